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
    enum Role: String { case provider, gateway }

    /// The timeout for the head of a response, except for streaming requests. Tests raise it for busy machines.
    @TaskLocal static var timeout: TimeAmount = .seconds(15)
    /// The time limit for an exchange in which the server neither sends nor accepts a byte. It applies where
    /// ``timeout`` does not, and also limits the total duration of a response that does not stream. The value exceeds
    /// the time that a server needs for the last lines of an import and the 15 s between the comments of an event
    /// stream, and suffices for the longest list over a slow connection.
    @TaskLocal static var silence: TimeAmount = .seconds(300)
    /// The maximum size of a response that does not stream, in bytes. A larger one fails the request.
    static let maximumResponseLength = 4 * 1024 * 1024

    /// The settings that must be equal for clients to share connections: the additional authority, the proxy and the
    /// idle timeout.
    private struct Route: Hashable {
        let authority: String?
        let proxy: ProxyEndpoint?
        let silence: TimeAmount
    }

    private static let clients = Mutex<[Route: HTTPClient]>([:])

    /// Returns the HTTP client for these settings. It does not retry a connection that was refused.
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

    let baseURL: String
    /// The key of a provider's API, or `nil` for requests that need none.
    let apiKey: String?
    /// The kind of server that the client expects at the URL, for error messages.
    let role: Role
    private let http: HTTPClient

    /// Creates a client of the server at a URL.
    /// - Parameters:
    ///   - baseURL: The URL without a path. A trailing slash is dropped.
    ///   - authority: The PEM certificates that the client trusts in addition to the system's, or `nil` for none.
    ///   - proxy: The HTTP proxy for the requests, or `nil` for none.
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

    /// Returns whether a text is the URL of a server: `http` or `https`, a host and optionally a port.
    static func isURL(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.query == nil, url.fragment == nil
        else { return false }
        return url.port.map { (1...65_535).contains($0) } ?? true
    }

    /// Sends a request and returns the JSON of the response, or `null` for an empty body.
    /// - Parameters:
    ///   - path: A path that is not below `/v1`, such as `/ready`, or `nil` for the request's own path.
    ///   - limit: The time limit from the request to the end of the response, or `nil` for ``timeout`` to the head of
    ///     the response and ``silence`` to its end.
    /// - Throws: ``APIErrorResponse`` for an error of the API, or ``SettingsError`` if no such API responds.
    @discardableResult
    func send(_ request: APIRequest, to path: String? = nil, within limit: Duration? = nil) async throws -> JSONValue {
        let message = try self.message(request, path: path)
        let limits = Self.limits(limit)
        let deadline = NIODeadline.now() + limits.head
        // The deadline of the HTTP client covers the head of the response only.
        let json = try await withTimeLimit(.nanoseconds(limits.whole.nanoseconds)) {
            try await self.json(in: try await self.response(to: message, deadline: deadline))
        }
        guard let json else { throw NoResponseError(HTTPClientError.deadlineExceeded, from: self.baseURL) }
        return json
    }

    /// Returns the time limits for the head of a response and for the whole response.
    /// - Parameter limit: The limit for both, or `nil` for ``timeout`` and ``silence``.
    static func limits(_ limit: Duration?) -> (head: TimeAmount, whole: TimeAmount) {
        guard let limit else { return (Self.timeout, max(Self.timeout, Self.silence)) }
        return (TimeAmount(limit), TimeAmount(limit))
    }

    /// Returns the body of a response as it arrives, without a limit of the total time.
    /// - Throws: The same errors as ``send(_:to:)``.
    func stream(_ request: APIRequest) async throws -> ReceivedBody {
        let response = try await self.response(to: try self.message(request), deadline: .distantFuture)
        return ReceivedBody(base: response.body, url: self.baseURL)
    }

    /// Sends a body as it is produced, for as long as the server accepts it, and returns the JSON of the response.
    /// - Parameter length: The length in bytes, or `nil` if it is not known.
    /// - Throws: The same errors as ``send(_:to:)``.
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

    private func message(_ request: APIRequest, path: String? = nil) throws -> HTTPClientRequest {
        var message = HTTPClientRequest(url: self.baseURL + (path ?? request.path))
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        message.headers = HTTPHeaders(request.headers + [("content-type", "application/json")])
        if let apiKey { message.headers.add(name: "authorization", value: "Bearer \(apiKey)") }
        if let body = request.body { message.body = .bytes(ByteBuffer(bytes: try body.text)) }
        return message
    }

    /// Performs a request whose response must begin before `deadline`.
    /// - Throws: ``APIErrorResponse`` for a status that is not 2xx, or ``NoResponseError`` if there is no response.
    private func response(to message: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await self.http.execute(message, deadline: deadline)
        } catch {
            throw NoResponseError(error, from: self.baseURL)
        }
        guard (200..<300).contains(response.status.code) else {
            // If the body does not arrive, the status suffices.
            let body = (try? await response.body.collect(upTo: Self.maximumResponseLength)) ?? ByteBuffer()
            throw self.explained(APIErrorResponse(status: response.status.code, text: String(buffer: body)))
        }
        return response
    }

    /// Parses the JSON of a response, or returns `null` for an empty body.
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

    var notAnAPI: ForeignServerError {
        ForeignServerError("the server at \(self.baseURL) is no Martlet \(self.role): is the URL right?")
    }

    /// Returns whether a retry of the same request may soon succeed after an error.
    static func mayPass(_ error: any Error) -> Bool {
        if let error = error as? APIErrorResponse { return error.status == 429 || error.status >= 500 }
        return error is NoResponseError
    }

    /// Returns an error that names the likely cause of a status, or `error` itself if its message suffices.
    private func explained(_ error: APIErrorResponse) -> any Error {
        switch error.status {
        case 401 where self.role == .provider && error.code != "key_expired":
            SettingsError("the provider at \(self.baseURL) does not know this API key: check MARTLET_API_KEY")
        case 401 where self.role == .gateway:
            SettingsError("\(self.baseURL) wants an API key, unlike a gateway: is it the right address?")
        case 404 where !error.isFromAPI || error.code == "not_found":
            SettingsError("\(self.baseURL) has no such route: is it a Martlet \(self.role) of this version?")
        default: error
        }
    }
}

/// The error for a response that is not from one of Martlet's APIs.
struct ForeignServerError: StatusError {
    let description: String
    let status = ExitStatus.failed

    init(_ description: String) { self.description = description }
}

/// A response with an error status.
struct APIErrorResponse: Error, CustomStringConvertible {
    let status: UInt
    let text: String

    /// The member `error` of the response, or `null` if the server is not Martlet's.
    private var error: JSONValue { (try? JSONValue(parsing: Data(self.text.utf8)))?["error"] ?? .null }

    /// The code of the API's error, or `nil` if the server is not Martlet's.
    var code: String? { self.error["code"].stringValue }

    /// A Boolean value that indicates whether the response is from one of Martlet's APIs instead of another server.
    var isFromAPI: Bool { self.code != nil }

    /// A Boolean value that indicates whether the request may have been performed, because the server or a proxy has
    /// failed. An API that refuses a request because of overload has not begun to perform it.
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

/// The error of a request that had no response.
struct NoResponseError: StatusError {
    let description: String
    /// A Boolean value that indicates whether the server may have performed the request. If it is `false`, the request
    /// certainly did not reach the server.
    let mayHaveArrived: Bool
    let status = ExitStatus.unavailable

    init(_ error: any Error, from url: String) {
        let (isSecure, text) = (url.hasPrefix("https:"), "\(error)")
        let failure = error as? HTTPClientError
        let isBroken = (error as? IOError).map { Self.broken.contains($0.errnoCode) } ?? false
        let mayBeSent = isBroken || error is CancellationError
        self.mayHaveArrived = failure.map { Self.afterConnecting.contains($0) } ?? mayBeSent
        let timeouts: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout]
        if let failure, timeouts.contains(failure) {
            self.description = "\(url) did not respond in time"
        } else if failure == .remoteConnectionClosed {
            let hint = isSecure ? "" : "; a port that expects TLS does that: is it the right one?"
            self.description = "\(url) closed the connection without a response\(hint)"
        } else if text.contains("WRONG_VERSION_NUMBER") {
            self.description = "\(url) does not speak TLS there: use http, or another port"
        } else if text.contains("CERTIFICATE_VERIFY_FAILED") || error is NIOSSLExtraError {
            let remedy = "--api-authority names an authority of your own"
            self.description = "the certificate of \(url) is not trusted, has expired or is for another name: \(remedy)"
        } else {
            self.description = "no response from \(url): is it running? (\(ErrorDescription.of(error)))"
        }
    }

    /// Creates the error for a response whose body was not received completely.
    init(ofBody error: any Error, from url: String) {
        self.mayHaveArrived = true
        let isTooLong = error is NIOTooManyBytesError
        let reason = isTooLong ? "it is longer than a command reads" : ErrorDescription.of(error)
        self.description = "the response of \(url) did not arrive as a whole (\(reason))"
    }

    /// The errors of the HTTP client after which the request may have reached the server.
    private static let afterConnecting: [HTTPClientError] = [
        .deadlineExceeded, .readTimeout, .writeTimeout, .remoteConnectionClosed, .cancelled,
    ]
    /// The errors of an established connection that a proxy or a restart has closed.
    private static let broken: Set<CInt> = [ECONNRESET, EPIPE, ETIMEDOUT]
}

/// The progress of an upload, which distinguishes a server that accepts nothing from a file that is read slowly.
private final class UploadProgress: Sendable {
    /// The time at which the current chunk began to wait for the server, or `nil` while the next chunk is read, and
    /// after the last one.
    private let waiting = Mutex<ContinuousClock.Instant?>(nil)

    fileprivate func reads() { self.waiting.withLock { $0 = nil } }

    fileprivate func waits() { self.waiting.withLock { $0 = ContinuousClock.now } }

    /// Returns once the server has accepted nothing for as long as `limit`. The time after the last chunk is ignored.
    func untilStalled(for limit: Duration) async throws {
        while true {
            let now = ContinuousClock.now
            let left = limit - (now - (self.waiting.withLock { $0 } ?? now))
            guard left > .zero else { return }
            try await Task.sleep(for: left)
        }
    }
}

/// A request body that records in an ``UploadProgress`` when the HTTP client requests its chunks.
private struct WatchedBody<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == ByteBuffer {
    let base: Base
    let progress: UploadProgress

    func makeAsyncIterator() -> Iterator { Iterator(base: self.base.makeAsyncIterator(), progress: self.progress) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: Base.AsyncIterator
        fileprivate let progress: UploadProgress

        mutating func next() async throws -> ByteBuffer? { try await self.next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> ByteBuffer? {
            self.progress.reads()
            guard let piece = try await self.base.next(isolation: isolation) else { return nil }
            self.progress.waits()
            return piece
        }
    }
}

/// The body of a response that is read as it arrives.
struct ReceivedBody: AsyncSequence, Sendable {
    let base: HTTPClientResponse.Body
    /// The URL of the server, for the error of an interrupted response.
    let url: String

    func makeAsyncIterator() -> Iterator { Iterator(base: self.base.makeAsyncIterator(), url: self.url) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: HTTPClientResponse.Body.AsyncIterator
        fileprivate let url: String

        mutating func next() async throws -> ByteBuffer? { try await self.next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> ByteBuffer? {
            do {
                return try await self.base.next(isolation: isolation)
            } catch let error as HTTPClientError where error == .readTimeout {
                throw SettingsError(
                    "\(self.url) has sent nothing for too long, or its response was not read",
                    status: .unavailable
                )
            }
        }
    }
}
