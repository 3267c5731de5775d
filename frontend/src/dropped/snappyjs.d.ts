declare module "snappyjs" {
  const SnappyJS: { uncompress(data: Uint8Array, most?: number): Uint8Array };
  export default SnappyJS;
}
