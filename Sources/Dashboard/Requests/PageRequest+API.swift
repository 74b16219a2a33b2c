import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushSupport
import Synchronization

extension PageRequest {
    /// The longest response of the API that a page reads, in bytes.
    private static let maximumResponse = 16 * 1024 * 1024

    /// Carries out a request to the API as the signed-in caller, and notes it for the page's list of calls.
    ///
    /// - Parameter isNoted: `false` for one of many like it, which would hide the others in the list.
    /// - Returns: The body; `null` for an empty one.
    /// - Throws: The API's own ``RequestError``.
    func call(_ call: APICall, isNoted: Bool = true) async throws -> JSONValue {
        if isNoted { self.note(call) }
        var call = call
        var body = ByteBuffer()
        if let json = call.body {
            body = ByteBuffer(bytes: try json.text)
            call.headers[.contentType] = "application/json"
        }
        return try await self.call(call, .init(buffer: body))
    }

    /// Sends a file of a form to the API as it arrives, as a file of the app.
    ///
    /// - Returns: The file as the API has it.
    func upload(_ file: UploadForm.File) async throws -> JSONValue {
        // Some browsers send the folder too.
        let name = file.fileName.split { "/\\".contains($0) }.last.map(String.init) ?? ""
        let query = FormText.query(["name": name.isEmpty ? nil : name])
        var call = APICall.post("\(self.api)/files\(query)")
        call.headers[.contentType] = file.contentType ?? "application/octet-stream"
        call.file = name
        self.note(call)
        return try await self.call(call, .init(asyncSequence: file.content))
    }

    private func call(_ call: APICall, _ body: RequestBody) async throws -> JSONValue {
        var head = HTTPRequest(method: call.method, scheme: nil, authority: nil, path: call.path)
        head.headerFields = call.headers
        let source = ApplicationRequestContextSource(channel: self.context.channel, logger: self.context.logger)
        var context = APIContext(source: source)
        context.caller = self.session.caller
        let request = Request(head: head, body: body)
        let response = try await self.interface.api.respond(to: request, context: context)
        let text = try await response.text(maximum: Self.maximumResponse)
        let json = text.isEmpty ? JSONValue.null : try JSONValue(parsing: text)
        guard response.status.kind == .successful else {
            self.noteRetryAfter(response.headers[.retryAfter])
            throw RequestError(response: json, status: response.status)
        }
        return json
    }

    func get(_ path: String) async throws -> JSONValue { try await self.call(.get(path)) }
}

extension Response {
    /// Returns the whole body.
    ///
    /// - Throws: ``RequestError`` for a body that is longer than `maximum` bytes.
    fileprivate func text(maximum: Int) async throws -> Data {
        let collected = CollectedBody(maximum: maximum)
        try await self.body.write(CollectingWriter(body: collected))
        return collected.data
    }
}

/// A body that is being collected.
private final class CollectedBody: Sendable {
    private let collected = Mutex(Data())
    private let maximum: Int

    var data: Data { self.collected.withLock { $0 } }

    init(maximum: Int) {
        self.maximum = maximum
    }

    func append(_ buffer: ByteBuffer) throws {
        try self.collected.withLock { data in
            guard data.count + buffer.readableBytes <= self.maximum else {
                throw RequestError.bodyTooLarge(maximum: self.maximum)
            }
            data.append(contentsOf: buffer.readableBytesView)
        }
    }
}

/// A writer of responses into memory.
private struct CollectingWriter: ResponseBodyWriter {
    let body: CollectedBody

    mutating func write(_ buffer: ByteBuffer) async throws { try self.body.append(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

extension RequestError {
    /// The error of a response of the API.
    init(response: JSONValue, status: HTTPResponse.Status) {
        let fields = response["error"]
        let kind = Kind.allCases.first { $0.status == status } ?? .internalError
        self.init(
            kind,
            code: fields["code"].stringValue ?? "refused",
            message: fields["message"].stringValue ?? status.reasonPhrase,
            path: fields["field"].stringValue
        )
    }
}
