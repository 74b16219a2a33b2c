import Hummingbird
import NIOCore
import PushSupport

/// The body of a request as it arrives, with a limit, and with an error if it ends before its announced length.
///
/// The idle timeout of the server ends a body that stalls.
struct UploadBody: AsyncSequence {
    typealias Element = ByteBuffer

    let body: HummingbirdCore.RequestBody
    /// The most bytes.
    let maximum: Int
    /// The value of `content-length`; `nil` for a chunked body, whose end is marked.
    let announced: Int?

    func makeAsyncIterator() -> Iterator {
        Iterator(body: self.body.makeAsyncIterator(), maximum: self.maximum, announced: self.announced)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var body: HummingbirdCore.RequestBody.AsyncIterator
        fileprivate let maximum: Int
        fileprivate let announced: Int?
        private var count = 0

        fileprivate init(body: HummingbirdCore.RequestBody.AsyncIterator, maximum: Int, announced: Int?) {
            self.body = body
            self.maximum = maximum
            self.announced = announced
        }

        /// - Throws: ``RequestError``, or the error of the connection.
        @concurrent mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await self.body.next() else {
                guard self.count >= self.announced ?? 0 else {
                    throw RequestError(.invalid, code: "incomplete_body", message: "the body ended too early")
                }
                return nil
            }
            self.count += buffer.readableBytes
            guard self.count <= self.maximum else {
                throw RequestError(
                    .tooLarge,
                    code: "body_too_large",
                    message: "a file has at most \(self.maximum) bytes: send it in parts"
                )
            }
            return buffer
        }
    }
}
