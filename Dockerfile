# docker build . builds it from the public image of Python; --build-arg BASE=… takes another (docs/serving.md)
ARG BASE=python:3.12-slim
FROM ${BASE}
WORKDIR /opt/explorer
COPY requirements requirements
RUN python -m pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && python -m pip install --no-cache-dir --no-build-isolation --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY explorer explorer
# explorer/docs, explorer/notebooks and explorer/replays are links to these
COPY docs docs
COPY notebooks notebooks
RUN python -m pip install --no-cache-dir --no-build-isolation --no-deps . \
    && useradd --create-home explorer && mkdir /data && chown explorer /data
USER explorer
ENV ICEDIVE_HOME=/data/home ICEDIVE_CACHE=/data/cache
EXPOSE 5006
VOLUME /data
HEALTHCHECK CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:5006/health', timeout=5)"
CMD ["icedive", "serve", "--address", "0.0.0.0", "--port", "5006"]
