import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// A request that a page makes to the API within the process.
struct LocalAPIRequest: Sendable {
    var method = HTTPRequest.Method.get
    let path: String
    var body: JSONValue?
    var headers: HTTPFields = [:]
    /// The name of the file that is sent as the body, or `nil` for a request with a JSON body or without a body.
    var file: String?

    static func get(_ path: String) -> LocalAPIRequest { LocalAPIRequest(path: path) }

    static func post(_ path: String, _ body: JSONValue? = nil) -> LocalAPIRequest {
        LocalAPIRequest(method: .post, path: path, body: body)
    }

    static func put(_ path: String, _ body: JSONValue) -> LocalAPIRequest {
        LocalAPIRequest(method: .put, path: path, body: body)
    }

    static func patch(_ path: String, _ body: JSONValue) -> LocalAPIRequest {
        LocalAPIRequest(method: .patch, path: path, body: body)
    }

    static func delete(_ path: String) -> LocalAPIRequest { LocalAPIRequest(method: .delete, path: path) }

    /// Returns the request as a `curl` command for a shell, without the secrets in its body.
    /// - Parameter origin: The scheme and the authority of the server.
    func curl(origin: String) -> String {
        var parts = ["curl"]
        if self.method != .get { parts.append("-X \(self.method.rawValue)") }
        parts.append("-H \"Authorization: Bearer $MARTLET_API_KEY\"")
        for field in self.headers { parts.append("-H \(Self.quoted("\(field.name): \(field.value)"))") }
        if let body = self.body.map(Self.withoutSecrets), let text = try? body.text {
            parts.append("-d \(Self.quoted(String(decoding: text, as: UTF8.self)))")
        }
        if let file { parts.append("-T \(Self.quoted(file))") }
        return (parts + [Self.quoted("\(origin)\(self.path)")]).joined(separator: " ")
    }

    /// The names of the members of request bodies that are secret, so that their values are not shown.
    private static let secrets: Set = [
        "authToken", "certificate", "current", "p12", "passphrase", "password", "privateKey", "secret",
    ]

    /// Returns a body with `…` in place of each secret. Only members of the outermost object can be secrets, because
    /// the data of a notification may contain other members with the same names.
    private static func withoutSecrets(_ body: JSONValue) -> JSONValue {
        guard case .object(var members) = body else { return body }
        for name in Self.secrets where members[name] != nil { members[name] = .string("…") }
        return .object(members)
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte.isAlphanumeric || "/:.-_~%".utf8.contains(byte)
        }
        return isPlain ? text : "'\(text.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}

extension PageRequest {
    /// The maximum length of an API response that a page reads, in bytes. A longer one results in an error.
    private static let maximumResponse = 16 * 1024 * 1024

    /// Sends a request to the API as the signed-in caller, and adds it to the page's list of API calls.
    /// - Parameters:
    ///   - type: The type of the value from which the response is encoded, such as `AppResponse`.
    ///   - isNoted: Pass `false` to omit one of many similar requests from the list.
    /// - Throws: The ``RequestError`` of the API.
    func call<Value>(_ call: LocalAPIRequest, as type: Value.Type, isNoted: Bool = true) async throws -> Value {
        try Self.value(of: try await self.respond(to: call, isNoted: isNoted), as: type)
    }

    /// Sends a request to the API as ``call(_:as:isNoted:)`` does.
    /// - Returns: The JSON of the response, or `null` for an empty response.
    func call(_ call: LocalAPIRequest, isNoted: Bool = true) async throws -> JSONValue {
        try await self.respond(to: call, isNoted: isNoted).json
    }

    func get<Value>(_ path: String, as type: Value.Type) async throws -> Value {
        try await self.call(.get(path), as: type)
    }

    /// Returns a list from the API, or one page of it.
    /// - Parameter entry: The type from which the API encodes the entries.
    /// - Throws: The ``RequestError`` of the API.
    func list<Entry>(_ path: String, of entry: Entry.Type) async throws -> ResponsePage<Entry> {
        try await self.get(path, as: ResponsePage<Entry>.self)
    }

    /// Uploads the file of a form to the API while it arrives, as a file of the app.
    /// - Returns: The stored file.
    /// - Throws: The ``RequestError`` of the API.
    func upload(_ file: UploadForm.File) async throws -> FileResponse {
        // Some browsers send the path of the file instead of only its name.
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
    static func members(_ response: some ResponseObject) -> PageModel {
        if case .object(let members) = response.json { Self.model(members) } else { [:] }
    }
}

enum URLText {
    /// Returns a string in percent-encoding, for use as a query value or a path component.
    static func encoded(_ text: some StringProtocol) -> String { PercentEncoding.component(text) }

    /// Returns the query of a URL with its question mark. Items without a value are omitted. The result is empty if
    /// none remain.
    static func query(_ items: KeyValuePairs<String, String?>) -> String {
        let pairs = items.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
        return pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))"
    }
}
