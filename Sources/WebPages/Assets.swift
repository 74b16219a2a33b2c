import Crypto
import HTTPTypes
package import Hummingbird
import NIOCore

/// The style sheet and the script of the pages. Their URLs contain a hash of their contents, so that browsers can cache
/// them for a year.
package struct Assets: Sendable {
    private struct File: Sendable {
        let content: ByteBuffer
        let contentType: String
    }

    private let files: [String: File]
    /// The path of the style sheet, for the variable `style` of the template `layout`.
    package let style: String
    package let script: String

    /// Creates the assets from the embedded files.
    /// - Parameter folder: The path under which ``response(to:name:)`` is reached, without a trailing slash.
    package init(folder: String) {
        let style = Self.file("style", "css", PageFiles.shared["style.css"], "text/css; charset=utf-8")
        let script = Self.file("script", "js", PageFiles.shared["script.js"], "text/javascript; charset=utf-8")
        self.files = [style.name: style.file, script.name: script.file]
        (self.style, self.script) = ("\(folder)/\(style.name)", "\(folder)/\(script.name)")
    }

    /// Returns the response with the file called `name`, or with status 404 if there is none. A conditional request may
    /// result in status 304.
    package func response(to request: Request, name: String) -> Response {
        guard let file = self.files[name] else { return Response(status: .notFound) }
        let tag = "\"\(name)\""
        var headers: HTTPFields = [
            .contentType: file.contentType, .eTag: tag, .xContentTypeOptions: "nosniff",
            .cacheControl: "public, max-age=31536000, immutable",
        ]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = "\(file.content.readableBytes)"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: file.content))
    }

    private static func file(
        _ name: String,
        _ suffix: String,
        _ content: [UInt8],
        _ contentType: String
    ) -> (name: String, file: File) {
        let hash = SHA256.hash(data: content).prefix(8).map {
            $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16)
        }
        return (
            "\(name).\(hash.joined()).\(suffix)", File(content: ByteBuffer(bytes: content), contentType: contentType)
        )
    }
}
