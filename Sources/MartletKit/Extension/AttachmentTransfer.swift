import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Performs one download with Foundation's networking, as ``AttachmentDownload`` decides.
///
/// It is unchecked because everything that changes is used on `queue` only, which runs one operation at a time.
final class AttachmentTransfer: NSObject, @unchecked Sendable {
    typealias Outcome = Result<AttachmentType, AttachmentError>

    private let queue = OperationQueue()
    private let file: FileHandle
    private var download: AttachmentDownload
    private var session: URLSession?
    private var task: URLSessionTask?
    private var deadline: Task<Void, Never>?
    private var continuation: CheckedContinuation<Outcome, Never>?
    /// Set once; whatever comes later changes nothing.
    private var outcome: Outcome?

    init(_ download: AttachmentDownload, file: FileHandle) {
        self.download = download
        self.file = file
        self.queue.maxConcurrentOperationCount = 1
    }

    /// Downloads into the file. It ends early if its task is cancelled.
    func run(deadline: Duration) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.queue.addOperation { self.start(continuation, deadline: deadline) }
            }
        } onCancel: {
            self.queue.addOperation { self.end(.failure(.tooLate)) }
        }
    }

    private func start(_ continuation: CheckedContinuation<Outcome, Never>, deadline: Duration) {
        if let outcome = self.outcome {
            continuation.resume(returning: outcome)
            return
        }
        self.continuation = continuation
        // Nothing of the app's cookies, credentials and caches takes part.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForResource = Double(deadline.components.seconds + 1)
        self.session = URLSession(configuration: configuration, delegate: self, delegateQueue: self.queue)
        self.deadline = Task {
            guard (try? await Task.sleep(for: deadline)) != nil else { return }
            self.queue.addOperation { self.end(.failure(.tooLate)) }
        }
        self.request(self.download.url.url)
    }

    private func request(_ url: URL) {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // A decoded body has another size than its content-length.
        request.setValue("identity", forHTTPHeaderField: "accept-encoding")
        self.task?.cancel()
        self.task = self.session?.dataTask(with: request)
        self.task?.resume()
    }

    private func end(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        self.deadline?.cancel()
        self.session?.invalidateAndCancel()
        try? self.file.close()
        self.continuation?.resume(returning: outcome)
        self.continuation = nil
    }

    /// Returns `true` if the body of the response is wanted.
    private func responded(_ response: URLResponse) -> Bool {
        guard let response = response as? HTTPURLResponse else {
            self.end(.failure(.connection("the response is not HTTP")))
            return false
        }
        let length = response.expectedContentLength
        let action = self.download.responded(status: response.statusCode, length: length < 0 ? nil : length) { name in
            response.value(forHTTPHeaderField: name)
        }
        switch action {
        case .receive: return true
        case .follow(let url): self.request(url)
        case .fail(let failure): self.end(.failure(failure))
        }
        return false
    }
}

extension AttachmentTransfer: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
        guard task === self.task, self.outcome == nil else { return }
        _ = self.responded(response)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard dataTask === self.task, self.outcome == nil else { return completionHandler(.cancel) }
        completionHandler(self.responded(response) ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard dataTask === self.task, self.outcome == nil else { return }
        switch self.download.received(data) {
        case .write:
            do { try self.file.write(contentsOf: data) } catch { self.end(.failure(.file("\(error)".forLog))) }
        case .fail(let failure): self.end(.failure(failure))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // A request that a redirect has replaced ends as cancelled.
        guard task === self.task, self.outcome == nil else { return }
        if let error {
            self.end(.failure(.connection("\(error.localizedDescription)".forLog)))
        } else {
            do throws(AttachmentError) {
                self.end(.success(try self.download.finished()))
            } catch {
                self.end(.failure(error))
            }
        }
    }
}
