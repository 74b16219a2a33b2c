import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushSupport
import WebPages

extension PageRequest {
    /// The longest response of the API that a page reads, in bytes.
    private static let maximumResponse = 16 * 1024 * 1024

    /// Carries out a request to the API as the signed-in caller, and notes it for the page's list of calls.
    ///
    /// - Parameters:
    ///   - type: The type of the value that the response is made of, such as `AppResponse`.
    ///   - isNoted: `false` for one of many like it, which would hide the others in the list.
    /// - Throws: The API's own ``RequestError``.
    func call<Value>(_ call: LocalAPIRequest, as type: Value.Type, isNoted: Bool = true) async throws -> Value {
        try Self.value(of: try await self.respond(to: call, isNoted: isNoted), as: type)
    }

    /// Carries out a request to the API as ``call(_:as:isNoted:)`` does.
    ///
    /// - Returns: The JSON of the response; `null` for an empty one.
    func call(_ call: LocalAPIRequest, isNoted: Bool = true) async throws -> JSONValue {
        try await self.respond(to: call, isNoted: isNoted).json
    }

    func get<Value>(_ path: String, as type: Value.Type) async throws -> Value {
        try await self.call(.get(path), as: type)
    }

    /// Returns a list of the API, or one page of it.
    func list<Entry>(_ path: String, of entry: Entry.Type) async throws -> ResponsePage<Entry> {
        try await self.get(path, as: ResponsePage<Entry>.self)
    }

    /// Sends a file of a form to the API as it arrives, as a file of the app.
    ///
    /// - Returns: The file as the API has it.
    func upload(_ file: UploadForm.File) async throws -> FileResponse {
        // Some browsers send the folder too.
        let name = file.fileName.split { "/\\".contains($0) }.last.map(String.init) ?? ""
        let query = URLText.query(["name": name.isEmpty ? nil : name])
        var call = LocalAPIRequest.post("\(self.api)/files\(query)")
        call.headers[.contentType] = file.contentType ?? "application/octet-stream"
        call.file = name
        self.note(call)
        let response = try await self.respond(to: call, .init(asyncSequence: file.content))
        return try Self.value(of: response, as: FileResponse.self)
    }

    private func respond(to call: LocalAPIRequest, isNoted: Bool) async throws -> ResponseValue {
        if isNoted { self.note(call) }
        var call = call
        var body = ByteBuffer()
        if let json = call.body {
            body = ByteBuffer(bytes: try json.text)
            call.headers[.contentType] = "application/json"
        }
        return try await self.respond(to: call, .init(buffer: body))
    }

    private func respond(to call: LocalAPIRequest, _ body: RequestBody) async throws -> ResponseValue {
        var head = HTTPRequest(method: call.method, scheme: nil, authority: nil, path: call.path)
        head.headerFields = call.headers
        let source = ApplicationRequestContextSource(channel: self.context.channel, logger: self.context.logger)
        var context = APIContext(source: source)
        context.caller = self.session.caller
        let request = Request(head: head, body: body)
        let value = ResponseValue()
        let response = try await ResponseValue.$current.withValue(value) { [context] in
            try await self.interface.api.respond(to: request, context: context)
        }
        guard response.body.contentLength ?? 0 <= Self.maximumResponse else {
            throw RequestError.bodyTooLarge(maximum: Self.maximumResponse)
        }
        guard response.status.kind == .successful else {
            self.noteRetryAfter(response.headers[.retryAfter])
            throw try Self.value(of: value, as: RequestError.self)
        }
        return value
    }

    private static func value<Value>(of response: ResponseValue, as type: Value.Type) throws -> Value {
        guard let value = response.value(as: type) else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "the response has another type")
            throw DecodingError.typeMismatch(type, context)
        }
        return value
    }
}

extension PageValue {
    /// Returns the values of a response by the names of its members.
    static func members(_ response: some ResponseObject) -> PageModel {
        if case .object(let members) = response.json { Self.model(members) } else { [:] }
    }
}
