# The image of Leasewarden: the binary alone. Build it with "make image".

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
ENV GOMODCACHE=/cache/mod GOCACHE=/cache/build
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download
COPY . .
ARG TARGETOS TARGETARCH
ARG VERSION=devel
RUN --mount=type=cache,target=/cache \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /leasewarden ./cmd/leasewarden

FROM scratch
ENV PATH=/usr/local/bin
COPY --from=build /leasewarden /usr/local/bin/leasewarden
# The user that the manifests run it as, which has no name here.
USER 65532:65532
ENTRYPOINT ["leasewarden"]
