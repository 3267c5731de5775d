import { render } from "preact";

render(<p>Hello</p>, document.body);
