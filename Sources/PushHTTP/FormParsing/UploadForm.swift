package import Hummingbird
import NIOCore

/// A form whose fields precede a single file, which is read while it arrives.
package struct UploadForm: Sendable {
    /// A file of the form whose content has not arrived yet.
    package struct File: Sendable {
        package let name: String
        package let fileName: String
        package let contentType: String?
        /// The content, which can be read only once.
        package let content: FormFileContent
    }

    package private(set) var fields: FormData
    /// The first file of the form, or `nil` if the user chose no file.
    package private(set) var file: File?

    /// Reads the fields of a form up to the first file. Fields after the file are ignored.
    /// - Throws: ``RequestError`` for a body that is not a form.
    package init(_ request: Request, limits: FormData.Limits) async throws {
        var limits = limits
        limits.acceptsFiles = true
        let contentType = request.headers[.contentType] ?? ""
        guard contentType.lowercased().hasPrefix("multipart/form-data") else {
            self.fields = try await FormRequest.fields(of: request, limits: limits)
            return
        }
        self.fields = FormData(limits: limits)
        let reader = try MultipartReader(contentType: contentType, limits: limits)
        let source = FormSource(reader: reader, body: request.body.makeAsyncIterator())
        var isSkipped = false
        while true {
            switch try await source.next() {
            case .field(let name, let value): try self.fields.add(name, value)
            case .fileBegan(let name, let fileName, let type):
                // If the user chose no file, browsers send a part with neither a file name nor content.
                isSkipped = fileName.isEmpty
                guard !isSkipped else { continue }
                let content = FormFileContent(source: source)
                self.file = File(name: name, fileName: fileName, contentType: type, content: content)
                return
            case .fileBytes: guard isSkipped else { throw FormData.error("invalid_form", "a file has no name") }
            case .fileEnded: isSkipped = false
            case .ended:
                try await source.end()
                return
            }
        }
    }
}

/// The content of a form's file while it arrives. It ends with the file, and throws an error if the body ends earlier.
package struct FormFileContent: AsyncSequence, AsyncIteratorProtocol, Sendable {
    fileprivate let source: FormSource

    package func makeAsyncIterator() -> FormFileContent { self }

    package mutating func next() async throws -> ByteBuffer? {
        if case .fileBytes(let bytes) = try await self.source.next() { return bytes }
        try await self.source.end()
        return nil
    }
}

private final class FormSource: @unchecked Sendable {
    // Sending it is safe, because only one task reads at a time: first the fields, then the content of the file.
    /// The maximum number of bytes that are read and discarded after the file, which suffices for a delimiter and a few
    /// fields.
    private static let maximumRest = 64 * 1024

    private var reader: MultipartReader
    private var body: HummingbirdCore.RequestBody.AsyncIterator

    init(reader: MultipartReader, body: HummingbirdCore.RequestBody.AsyncIterator) {
        (self.reader, self.body) = (reader, body)
    }

    func next() async throws -> MultipartReader.Event {
        while true {
            if let event = try self.reader.next() { return event }
            guard let bytes = try await self.body.next() else { throw self.reader.unfinished }
            self.reader.append(bytes)
        }
    }

    /// Reads and discards the rest of the body, so that the connection can be reused.
    func end() async throws {
        var left = Self.maximumRest
        while left > 0, let bytes = try await self.body.next() { left -= bytes.readableBytes }
    }
}
