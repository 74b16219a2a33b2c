import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushSupport

/// A client of the provider's API and of a gateway's admin API.
struct APIClient: Sendable {
    /// The kind of the server.
    enum Role: String { case provider, gateway }

    /// The longest time of a request, unless it streams.
    static let timeout: TimeAmount = .seconds(15)
    /// The longest response that is kept, in bytes.
    static let maximumResponseLength = 4 * 1024 * 1024

    /// The HTTP client. It reports at once that nothing listens, instead of trying again until the time is up.
    private static let http = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// The server's URL without a slash at its end.
    let baseURL: String
    /// The key of a provider's API; `nil` for requests that need none.
    let apiKey: String?
    /// The kind of server that is expected at the URL, for errors.
    let role: Role

    /// - Parameter baseURL: The URL without a path; a slash at its end is dropped.
    init(baseURL: String, apiKey: String? = nil, role: Role = .provider) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        (self.apiKey, self.role) = (apiKey, role)
    }

    /// Sends a request and returns the response's JSON; `null` for an empty body.
    /// - Parameter path: A path that is not below `/v1`, such as `/ready`; `nil` for the request's own.
    /// - Throws: ``APIErrorResponse`` for an error of the API, ``SettingsError`` where no such API responds.
    @discardableResult
    func send(_ request: APIRequest, to path: String? = nil) async throws -> JSONValue {
        let message = try self.message(request, path: path)
        return try await self.json(in: try await self.response(to: message, deadline: .now() + Self.timeout))
    }

    /// Returns the body of a response as it arrives, without a limit of time. Throws as ``send(_:to:)``.
    func stream(_ request: APIRequest) async throws -> HTTPClientResponse.Body {
        try await self.response(to: try self.message(request), deadline: .distantFuture).body
    }

    /// Sends a body as it arrives, without a limit of time. Throws as ``send(_:to:)``.
    /// - Parameter length: The length in bytes; `nil` if it is not known.
    func upload<Body: AsyncSequence & Sendable>(
        _ body: Body,
        length: Int64?,
        contentType: String,
        to request: APIRequest
    ) async throws -> JSONValue where Body.Element == ByteBuffer {
        var message = try self.message(request)
        message.headers.replaceOrAdd(name: "content-type", value: contentType)
        message.body = .stream(body, length: length.map { .known($0) } ?? .unknown)
        return try await self.json(in: try await self.response(to: message, deadline: .distantFuture))
    }

    /// Returns the HTTP request with the headers that every request has.
    private func message(_ request: APIRequest, path: String? = nil) throws -> HTTPClientRequest {
        var message = HTTPClientRequest(url: self.baseURL + (path ?? request.path))
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        message.headers = HTTPHeaders(request.headers + [("content-type", "application/json")])
        if let apiKey { message.headers.add(name: "authorization", value: "Bearer \(apiKey)") }
        if let body = request.body { message.body = .bytes(ByteBuffer(bytes: try body.text)) }
        return message
    }

    /// Performs a request.
    /// - Throws: ``APIErrorResponse`` for a status that is not 2xx, ``SettingsError`` if there is no response.
    private func response(to message: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await Self.http.execute(message, deadline: deadline)
        } catch {
            throw SettingsError("no response from \(self.baseURL): is it running? (\(error))")
        }
        guard (200..<300).contains(response.status.code) else {
            let body = try await response.body.collect(upTo: Self.maximumResponseLength)
            throw self.explained(APIErrorResponse(status: response.status.code, text: String(buffer: body)))
        }
        return response
    }

    /// Returns the JSON of a response; `null` for an empty body.
    private func json(in response: HTTPClientResponse) async throws -> JSONValue {
        let data = Data(try await response.body.collect(upTo: Self.maximumResponseLength).readableBytesView)
        guard !data.isEmpty else { return .null }
        guard let value = try? JSONValue(parsing: data) else { throw self.notAnAPI }
        return value
    }

    /// The error for a server at the URL that is not one of ours.
    var notAnAPI: SettingsError {
        SettingsError("the server at \(self.baseURL) is no Martlet \(self.role): is the URL right?")
    }

    /// Returns an error with the likely cause, where the API's message does not name it.
    private func explained(_ error: APIErrorResponse) -> any Error {
        switch error.status {
        case 401 where self.role == .provider:
            SettingsError("the provider at \(self.baseURL) does not know this API key: check MARTLET_API_KEY")
        case 404 where !error.isFromAPI:
            SettingsError("\(self.baseURL) has no such route: is it a Martlet \(self.role) of this version?")
        default: error
        }
    }
}

/// A response with an error status, and its message.
struct APIErrorResponse: Error, CustomStringConvertible {
    /// The HTTP status.
    let status: UInt
    /// The body of the response.
    let text: String

    /// The member `error` of the API's responses; `null` for other servers.
    private var error: JSONValue { (try? JSONValue(parsing: Data(self.text.utf8)))?["error"] ?? .null }

    /// Indicates whether one of Martlet's APIs has responded, rather than another server at that address.
    var isFromAPI: Bool { self.error["code"].stringValue != nil }

    /// The message of the API's error, or the whole response of another server.
    var description: String {
        guard let message = self.error["message"].stringValue else {
            return "the server responded \(self.status): \(self.text.printable)"
        }
        let field = self.error["field"].stringValue.map { " (\($0.printable))" } ?? ""
        return "the server rejected the request: \(message.printable)\(field)"
    }
}
