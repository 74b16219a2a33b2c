import AsyncHTTPClient
import NIOCore
import Synchronization

/// The progress of a body that is sent, by which a server that takes nothing is told from a file that is read slowly.
final class UploadProgress: Sendable {
    /// The time of the last piece that was taken; `nil` while the next piece is read, and after the last one.
    private let waiting = Mutex<ContinuousClock.Instant?>(nil)

    fileprivate func reads() { self.waiting.withLock { $0 = nil } }

    fileprivate func waits() { self.waiting.withLock { $0 = ContinuousClock.now } }

    /// Returns once the server has taken nothing for so long. The time after the last piece is not counted.
    func untilStalled(for limit: Duration) async throws {
        while true {
            let now = ContinuousClock.now
            let left = limit - (now - (self.waiting.withLock { $0 } ?? now))
            guard left > .zero else { return }
            try await Task.sleep(for: left)
        }
    }
}

/// A body that notes when its pieces are taken.
struct WatchedBody<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == ByteBuffer {
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

/// The body of a response as it arrives.
struct ReceivedBody: AsyncSequence, Sendable {
    let base: HTTPClientResponse.Body
    /// The URL of the server, for the error of one that sends nothing more.
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
