import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport that sends requests with one `URLSession`. It follows no redirects, so that neither the app's key nor a
/// secret reaches another host, and it keeps no cookies and no cache.
public struct URLSessionTransport: DownloadTransport {
    private let exchanges = ExchangeSession()

    public init() {}

    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        // The deadline below ends the exchange; this one is for a process whose tasks do not run.
        let http = Self.http(request, silence: request.deadline + .seconds(60))
        let maximum = request.maximumResponse
        let (parts, continuation) = AsyncThrowingStream<ResponsePart, any Error>.makeStream()
        let task = self.exchanges.begin(http) {
            continuation.yield($0)
        } end: {
            continuation.finish(throwing: $0)
        }
        defer { self.exchanges.end(task) }
        return try await request.deadline.limiting { try await Self.collect(parts, maximum: maximum) }
    }

    public func receive(
        _ request: TransportRequest,
        _ part: @escaping @Sendable (ResponsePart) throws -> Void
    ) async throws {
        let http = Self.http(request, silence: request.deadline)
        let (ends, continuation) = AsyncThrowingStream<Void, any Error>.makeStream()
        let task = self.exchanges.begin(http, part: part) { continuation.finish(throwing: $0) }
        defer { self.exchanges.end(task) }
        for try await _ in ends {}
        try Task.checkCancellation()
    }

    /// Converts a request for `URLSession`.
    /// - Parameter silence: The maximum time in which no byte arrives.
    private static func http(_ request: TransportRequest, silence: Duration) -> URLRequest {
        var http = URLRequest(url: request.url)
        http.httpMethod = request.method
        http.httpBody = request.body.isEmpty ? nil : request.body
        for (name, value) in request.headers { http.setValue(value, forHTTPHeaderField: name) }
        http.timeoutInterval = TimeInterval(silence.components.seconds)
        return http
    }

    /// Returns the response that the parts of an exchange form.
    /// - Parameter maximum: The maximum length of the body in bytes.
    /// - Throws: ``TransportError`` for a longer body or a missing head, or the error of the exchange.
    private static func collect(
        _ parts: AsyncThrowingStream<ResponsePart, any Error>,
        maximum: Int
    ) async throws -> TransportResponse {
        var response: TransportResponse?
        for try await part in parts {
            switch part {
            case .head(let head): response = head
            case .body(let bytes):
                response?.body.append(bytes)
                guard response?.body.count ?? 0 <= maximum else { throw TransportError.responseTooLarge }
            }
        }
        try Task.checkCancellation()
        guard let response else { throw TransportError.noHTTPResponse }
        return response
    }
}

/// The `URLSession` of a transport. The session is invalidated when the transport is deallocated.
private final class ExchangeSession: Sendable {
    private let delegate = ExchangeDelegate()
    private let session: URLSession

    init() {
        // The app's cookies, credentials and caches are not used.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        self.session = URLSession(configuration: configuration, delegate: self.delegate, delegateQueue: nil)
    }

    deinit { self.session.invalidateAndCancel() }

    /// Sends a request, and returns its task.
    /// - Parameters:
    ///   - part: A closure that processes each part of the response. An error that it throws terminates the exchange.
    ///   - end: A closure that is called once when the exchange has finished, with its error, or `nil` after success.
    func begin(
        _ request: URLRequest,
        part: @escaping @Sendable (ResponsePart) throws -> Void,
        end: @escaping @Sendable ((any Error)?) -> Void
    ) -> URLSessionTask {
        let task = self.session.dataTask(with: request)
        self.delegate.add(Exchange(part: part, end: end), for: task)
        task.resume()
        return task
    }

    /// Cancels an exchange. After the call returns, no further part of its response is processed.
    func end(_ task: URLSessionTask) {
        self.delegate.remove(task)
        task.cancel()
    }
}

/// A request in flight, with the closures that process its response.
private final class Exchange: Sendable {
    private struct Closed: Error {}

    /// The closure that processes the parts, or `nil` once the exchange is closed.
    private let part: LockedValue<(@Sendable (ResponsePart) throws -> Void)?>
    let end: @Sendable ((any Error)?) -> Void

    init(part: @escaping @Sendable (ResponsePart) throws -> Void, end: @escaping @Sendable ((any Error)?) -> Void) {
        (self.part, self.end) = (LockedValue(part), end)
    }

    /// Passes a part to the closure. Concurrent calls wait for each other.
    func hand(_ arrived: ResponsePart) throws {
        try self.part.withLock { part in
            guard let part else { throw Closed() }
            try part(arrived)
        }
    }

    /// Waits until the current part is processed. No further part is processed afterwards.
    func close() { self.part.withLock { $0 = nil } }
}

/// A delegate that forwards the callbacks of a session to the exchanges of its tasks.
private final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = LockedValue<[Int: Exchange]>([:])

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        self.exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    func remove(_ task: URLSessionTask) {
        self.exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.close()
    }

    /// Passes a part to the exchange of a task. Returns whether the exchange continues.
    private func hand(_ part: ResponsePart, to task: URLSessionTask) -> Bool {
        guard let exchange = self.exchanges.withLock({ $0[task.taskIdentifier] }) else { return false }
        do {
            try exchange.hand(part)
            return true
        } catch {
            self.finish(task, throwing: error)
            return false
        }
    }

    private func finish(_ task: URLSessionTask, throwing error: (any Error)?) {
        self.exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else {
            self.finish(dataTask, throwing: TransportError.noHTTPResponse)
            return completionHandler(.cancel)
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[name.lowercased()] = value
        }
        let head = TransportResponse(status: response.statusCode, headers: headers)
        completionHandler(self.hand(.head(head), to: dataTask) ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if !self.hand(.body(data), to: dataTask) { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.finish(task, throwing: error)
    }
}
