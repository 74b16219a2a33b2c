import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushSupport

/// One request to an HTTP API of ours: JSON out, JSON in.
struct HTTPCall: Sendable {
    static let timeout: TimeAmount = .seconds(15)
    static let maximumReplyLength = 4 * 1024 * 1024

    /// An answer that is no success, with what the server said.
    struct Refused: Error, CustomStringConvertible {
        let status: UInt
        let text: String

        /// Whether one of our APIs answered, not something else at that address.
        var isFromAPI: Bool {
            (try? JSONValue(parsing: Data(self.text.utf8)))?["error"]["code"].stringValue != nil
        }

        /// The words of the server's error, if it is one of ours.
        var description: String {
            guard let error = try? JSONValue(parsing: Data(self.text.utf8))["error"],
                let message = error["message"].stringValue
            else { return "the server answered \(self.status): \(self.text.printable)" }
            let field = error["field"].stringValue.map { " (\($0.printable))" } ?? ""
            return "the server refused: \(message.printable)\(field)"
        }
    }

    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Says at once when nobody listens, instead of trying again until the time is up.
    private static let client = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Without a slash at the end.
    let baseURL: String
    let apiKey: String?

    init(baseURL: String, apiKey: String? = nil) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.apiKey = apiKey
    }

    /// The answer's JSON object; empty for an empty body.
    /// - Throws: ``Refused``, or an error that names the URL when there was no answer.
    @discardableResult
    func callAsFunction(
        _ method: Method,
        _ path: String,
        headers: [(String, String)] = [],
        body: [String: Any]? = nil
    ) async throws -> [String: Any] {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        let answer = try await self.data(method, path, headers: headers, body: data)
        return try JSONSerialization.jsonObject(with: answer) as? [String: Any] ?? [:]
    }

    /// The answer's body.
    /// - Throws: as ``callAsFunction(_:_:headers:body:)``.
    func data(
        _ method: Method,
        _ path: String,
        headers: [(String, String)] = [],
        body: Data? = nil
    ) async throws -> Data {
        var request = self.request(method, path, headers: headers)
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await self.response(to: request, deadline: .now() + Self.timeout)
        return Data(try await response.body.collect(upTo: Self.maximumReplyLength).readableBytesView)
    }

    /// The answer's body as it comes, without an end to wait for.
    /// - Throws: as ``callAsFunction(_:_:headers:body:)``.
    func stream(_ path: String) async throws -> HTTPClientResponse.Body {
        try await self.response(to: self.request(.get, path, headers: []), deadline: .distantFuture).body
    }

    /// Sends a body as it comes, without a limit of time.
    /// - Parameter length: in bytes, if that is known.
    /// - Throws: as ``callAsFunction(_:_:headers:body:)``.
    func upload<Body: AsyncSequence & Sendable>(
        _ body: Body,
        length: Int64?,
        contentType: String,
        to path: String
    ) async throws -> Data where Body.Element == ByteBuffer {
        var request = self.request(.post, path, headers: [])
        request.headers.replaceOrAdd(name: "content-type", value: contentType)
        request.body = .stream(body, length: length.map { .known($0) } ?? .unknown)
        let response = try await self.response(to: request, deadline: .distantFuture)
        return Data(try await response.body.collect(upTo: Self.maximumReplyLength).readableBytesView)
    }

    private func request(_ method: Method, _ path: String, headers: [(String, String)]) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: self.baseURL + path)
        request.method = HTTPMethod(rawValue: method.rawValue)
        request.headers = HTTPHeaders(headers + [("content-type", "application/json")])
        if let apiKey { request.headers.add(name: "authorization", value: "Bearer \(apiKey)") }
        return request
    }

    private func response(to request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await Self.client.execute(request, deadline: deadline)
        } catch {
            throw SettingsError("no answer from \(self.baseURL): is it running? (\(error))")
        }
        guard (200..<300).contains(response.status.code) else {
            let text = try await response.body.collect(upTo: Self.maximumReplyLength)
            throw Refused(status: response.status.code, text: String(buffer: text))
        }
        return response
    }
}
