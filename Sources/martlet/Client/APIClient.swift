import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import PushSupport
import PushTypes
import Synchronization

/// A client of the provider's API and of a gateway's admin API.
struct APIClient: Sendable {
    /// The kind of the server.
    enum Role: String { case provider, gateway }

    /// The longest time to the head of a response, unless the request streams; tests give a busy machine more.
    @TaskLocal static var timeout: TimeAmount = .seconds(15)
    /// The longest time without a byte of a response, or of a body that the server takes, where ``timeout`` does not hold, and of a
    /// whole response that does not stream.
    ///
    /// The last lines of an import take a server far less, a stream of events has a comment every 15 s, and a slow line takes the
    /// longest list in that time.
    @TaskLocal static var silence: TimeAmount = .seconds(300)
    /// The longest response that is kept, in bytes.
    static let maximumResponseLength = 4 * 1024 * 1024

    /// The way to a server: the authority that is trusted besides the system's, the proxy, and the longest silence.
    private struct Route: Hashable {
        let authority: String?
        let proxy: ProxyEndpoint?
        let silence: TimeAmount
    }

    /// The HTTP clients by their route.
    private static let clients = Mutex<[Route: HTTPClient]>([:])

    /// Returns the client of a route. It reports at once that nothing listens, instead of trying again until the time is
    /// up.
    private static func http(_ route: Route) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.read = route.silence
        configuration.proxy = route.proxy.map { proxy in
            let authorization = proxy.user.map {
                HTTPClient.Authorization.basic(username: $0, password: proxy.password ?? "")
            }
            return .server(host: proxy.host, port: proxy.port, authorization: authorization)
        }
        if let authority = route.authority {
            guard let roots = try? NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)), !roots.isEmpty else {
                throw SettingsError("api.authority: the file holds no certificate in PEM")
            }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(roots)]
            configuration.tlsConfiguration = tls
        }
        return Self.clients.withLock { clients in
            if let known = clients[route] { return known }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[route] = client
            return client
        }
    }

    /// The server's URL without a slash at its end.
    let baseURL: String
    /// The key of a provider's API; `nil` for requests that need none.
    let apiKey: String?
    /// The kind of server that is expected at the URL, for errors.
    let role: Role
    private let http: HTTPClient

    /// - Parameters:
    ///   - baseURL: The URL without a path; a slash at its end is dropped.
    ///   - authority: The certificates, in PEM, that the client trusts besides the system's.
    ///   - proxy: The HTTP proxy that passes the requests on; `nil` for none.
    /// - Throws: ``SettingsError`` for an authority that is not PEM.
    init(
        baseURL: String,
        apiKey: String? = nil,
        role: Role = .provider,
        authority: String? = nil,
        proxy: ProxyEndpoint? = nil
    ) throws {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        (self.apiKey, self.role) = (apiKey, role)
        self.http = try Self.http(Route(authority: authority, proxy: proxy, silence: Self.silence))
    }

    /// Indicates whether a text is the URL of a server: `http` or `https`, a host and perhaps a port.
    static func isURL(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.query == nil, url.fragment == nil
        else { return false }
        return url.port.map { (1...65_535).contains($0) } ?? true
    }

    /// Sends a request and returns the response's JSON; `null` for an empty body.
    /// - Parameters:
    ///   - path: A path that is not below `/v1`, such as `/ready`; `nil` for the request's own.
    ///   - limit: The longest time from the request to the end of the response; `nil` for ``timeout`` to its head and ``silence``
    ///     to its end.
    /// - Throws: ``APIErrorResponse`` for an error of the API, ``SettingsError`` where no such API responds.
    @discardableResult
    func send(_ request: APIRequest, to path: String? = nil, within limit: Duration? = nil) async throws -> JSONValue {
        let message = try self.message(request, path: path)
        let limits = Self.limits(limit)
        let deadline = NIODeadline.now() + limits.head
        // The deadline of the HTTP client ends with the head of the response.
        let json = try await withTimeLimit(.nanoseconds(limits.whole.nanoseconds)) {
            try await self.json(in: try await self.response(to: message, deadline: deadline))
        }
        guard let json else { throw NoResponseError(HTTPClientError.deadlineExceeded, from: self.baseURL) }
        return json
    }

    /// Returns the longest times to the head of a response and to its end.
    /// - Parameter limit: The longest time of both; `nil` for the usual ones.
    static func limits(_ limit: Duration?) -> (head: TimeAmount, whole: TimeAmount) {
        guard let limit else { return (Self.timeout, max(Self.timeout, Self.silence)) }
        return (TimeAmount(limit), TimeAmount(limit))
    }

    /// Returns the body of a response as it arrives, for as long as it does. Throws as ``send(_:to:)``.
    func stream(_ request: APIRequest) async throws -> ReceivedBody {
        let response = try await self.response(to: try self.message(request), deadline: .distantFuture)
        return ReceivedBody(base: response.body, url: self.baseURL)
    }

    /// Sends a body as it arrives, for as long as the server takes it. Throws as ``send(_:to:)``.
    /// - Parameter length: The length in bytes; `nil` if it is not known.
    func upload<Body: AsyncSequence & Sendable>(
        _ body: Body,
        length: Int64?,
        contentType: String,
        to request: APIRequest
    ) async throws -> JSONValue where Body.Element == ByteBuffer {
        var message = try self.message(request)
        message.headers.replaceOrAdd(name: "content-type", value: contentType)
        let progress = UploadProgress()
        let watched = WatchedBody(base: body, progress: progress)
        message.body = .stream(watched, length: length.map { .known($0) } ?? .unknown)
        let response = try await withThrowingTaskGroup(of: HTTPClientResponse.self) { [message] group in
            group.addTask { try await self.response(to: message, deadline: .distantFuture) }
            group.addTask {
                try await progress.untilStalled(for: .nanoseconds(Self.silence.nanoseconds))
                throw NoResponseError(HTTPClientError.writeTimeout, from: self.baseURL)
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
        return try await self.json(in: response)
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
            response = try await self.http.execute(message, deadline: deadline)
        } catch {
            throw NoResponseError(error, from: self.baseURL)
        }
        guard (200..<300).contains(response.status.code) else {
            // The status tells enough where the text does not arrive.
            let body = (try? await response.body.collect(upTo: Self.maximumResponseLength)) ?? ByteBuffer()
            throw self.explained(APIErrorResponse(status: response.status.code, text: String(buffer: body)))
        }
        return response
    }

    /// Returns the JSON of a response; `null` for an empty body.
    private func json(in response: HTTPClientResponse) async throws -> JSONValue {
        let data: Data
        do {
            data = Data(try await response.body.collect(upTo: Self.maximumResponseLength).readableBytesView)
        } catch {
            throw NoResponseError(ofBody: error, from: self.baseURL)
        }
        guard !data.isEmpty else { return .null }
        guard let value = try? JSONValue(parsing: data) else { throw self.notAnAPI }
        return value
    }

    /// The error for a server at the URL that is not one of ours.
    var notAnAPI: ForeignServerError {
        ForeignServerError("the server at \(self.baseURL) is no Martlet \(self.role): is the URL right?")
    }

    /// Returns `true` for an error that the same request may not meet a little later.
    static func mayPass(_ error: any Error) -> Bool {
        if let error = error as? APIErrorResponse { return error.status == 429 || error.status >= 500 }
        return error is NoResponseError
    }

    /// Returns an error with the likely cause, where the API's message does not name it.
    private func explained(_ error: APIErrorResponse) -> any Error {
        switch error.status {
        case 401 where self.role == .provider && error.code != "key_expired":
            SettingsError("the provider at \(self.baseURL) does not know this API key: check MARTLET_API_KEY")
        case 401 where self.role == .gateway:
            SettingsError(
                "\(self.baseURL) wants an API key, unlike a gateway: is it the right address?"
            )
        case 404 where !error.isFromAPI || error.code == "not_found":
            SettingsError("\(self.baseURL) has no such route: is it a Martlet \(self.role) of this version?")
        default: error
        }
    }
}

/// The error of a response that none of Martlet's APIs gives.
struct ForeignServerError: StatusError {
    let description: String
    let status = ExitStatus.failed

    init(_ description: String) { self.description = description }
}

/// A response with an error status, and its message.
struct APIErrorResponse: Error, CustomStringConvertible {
    /// The HTTP status.
    let status: UInt
    /// The body of the response.
    let text: String

    /// The member `error` of the API's responses; `null` for other servers.
    private var error: JSONValue { (try? JSONValue(parsing: Data(self.text.utf8)))?["error"] ?? .null }

    /// The code of the API's error; `nil` for other servers.
    var code: String? { self.error["code"].stringValue }

    /// Indicates whether one of Martlet's APIs has responded, rather than another server at that address.
    var isFromAPI: Bool { self.code != nil }

    /// Indicates whether the server may have carried the request out: it failed, or another one before it did. An API that has
    /// no room for a request has done nothing of it.
    var mayBeDone: Bool {
        self.status >= 500 && !(self.status == 503 && self.isFromAPI && self.code != "storage_unavailable")
    }

    /// The message of the API's error, or the whole response of another server.
    var description: String {
        guard let message = self.error["message"].stringValue else {
            return "the server responded \(self.status): \(self.text.printable)"
        }
        let field = self.error["field"].stringValue.map { " (\($0.printable))" } ?? ""
        return "the server rejected the request: \(message.printable)\(field)"
    }
}
