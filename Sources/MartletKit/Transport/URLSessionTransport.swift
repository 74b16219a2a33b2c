import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with `URLSession`.
///
/// It follows no redirection, so that neither key nor secret reaches another host, and keeps no cookie and no cache.
public struct URLSessionTransport: Transport {
    public init() {}

    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var http = URLRequest(url: request.url)
        http.httpMethod = request.method
        http.httpBody = request.body.isEmpty ? nil : request.body
        for (name, value) in request.headers { http.setValue(value, forHTTPHeaderField: name) }
        let (events, continuation) = AsyncThrowingStream<ExchangeDelegate.Event, any Error>.makeStream()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        let seconds =
            Double(request.deadline.components.seconds) + Double(request.deadline.components.attoseconds) / 1e18
        configuration.timeoutIntervalForResource = max(1, seconds)
        let delegate = ExchangeDelegate(events: continuation)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: http).resume()
        let maximum = request.maximumResponse
        return try await withThrowingTaskGroup(of: TransportResponse.self) { group in
            group.addTask { try await Self.collect(events, maximum: maximum) }
            group.addTask {
                try await Task.sleep(for: request.deadline)
                throw TransportError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw TransportError.noHTTPResponse }
            return response
        }
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

/// Translates the callbacks of one exchange to a stream.
private final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    enum Event: Sendable {
        case head(TransportResponse)
        case body(Data)
    }

    private let events: AsyncThrowingStream<Event, any Error>.Continuation

    init(events: AsyncThrowingStream<Event, any Error>.Continuation) { self.events = events }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else {
            self.events.finish(throwing: TransportError.noHTTPResponse)
            return completionHandler(.cancel)
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[name.lowercased()] = value
        }
        self.events.yield(.head(TransportResponse(status: response.statusCode, headers: headers)))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.events.yield(.body(data))
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
        self.events.finish(throwing: error)
    }
}
