import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with one `URLSession`.
///
/// It follows no redirection, so that neither key nor secret reaches another host, and keeps no cookie and no cache.
public struct URLSessionTransport: MartletTransport {
    private let exchanges = Exchanges()

    public init() {}

    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var http = URLRequest(url: request.url)
        http.httpMethod = request.method
        http.httpBody = request.body.isEmpty ? nil : request.body
        for (name, value) in request.headers { http.setValue(value, forHTTPHeaderField: name) }
        // The deadline ends the exchange; this is for a process whose tasks do not run.
        http.timeoutInterval = TimeInterval(request.deadline.components.seconds) + 60
        let (task, events) = self.exchanges.begin(http)
        defer { task.cancel() }
        let maximum = request.maximumResponse
        return try await request.withDeadline { try await Self.collect(events, maximum: maximum) }
    }

    /// Returns the response that an exchange's events make.
    private static func collect(
        _ events: AsyncThrowingStream<ExchangeDelegate.Event, any Error>,
        maximum: Int
    ) async throws -> TransportResponse {
        var response: TransportResponse?
        for try await event in events {
            switch event {
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

/// A session, which ends with its transport.
private final class Exchanges: Sendable {
    private let delegate = ExchangeDelegate()
    private let session: URLSession

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        self.session = URLSession(configuration: configuration, delegate: self.delegate, delegateQueue: nil)
    }

    deinit { self.session.invalidateAndCancel() }

    /// Sends a request, and returns its task and the events of its response.
    func begin(_ request: URLRequest) -> (URLSessionTask, AsyncThrowingStream<ExchangeDelegate.Event, any Error>) {
        let (events, continuation) = AsyncThrowingStream<ExchangeDelegate.Event, any Error>.makeStream()
        let task = self.session.dataTask(with: request)
        self.delegate.add(continuation, for: task)
        task.resume()
        return (task, events)
    }
}

/// Translates the callbacks of exchanges to streams.
///
/// It is unchecked because a lock guards everything that changes.
private final class ExchangeDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    enum Event: Sendable {
        case head(TransportResponse)
        case body(Data)
    }

    typealias Continuation = AsyncThrowingStream<Event, any Error>.Continuation

    private let lock = NSLock()
    /// The streams of exchanges that have not ended, by the identifier of their task.
    private var streams: [Int: Continuation] = [:]

    func add(_ stream: Continuation, for task: URLSessionTask) {
        self.lock.withLock { self.streams[task.taskIdentifier] = stream }
    }

    private func stream(of task: URLSessionTask) -> Continuation? {
        self.lock.withLock { self.streams[task.taskIdentifier] }
    }

    private func finish(_ task: URLSessionTask, throwing error: (any Error)?) {
        self.lock.withLock { self.streams.removeValue(forKey: task.taskIdentifier) }?.finish(throwing: error)
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
        self.stream(of: dataTask)?.yield(.head(TransportResponse(status: response.statusCode, headers: headers)))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.stream(of: dataTask)?.yield(.body(data))
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
