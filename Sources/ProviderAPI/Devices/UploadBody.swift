import Hummingbird
import PushSupport

/// The body of a request as a sequence of chunks. Iteration throws an error if the body is too long, or ends before the
/// length in its `content-length`. The idle timeout of the server aborts a body that stops arriving.
struct UploadBody: AsyncSequence, AsyncIteratorProtocol {
    private var body: HummingbirdCore.RequestBody.AsyncIterator
    private let maximum: Int
    private let announced: Int?
    private let tooLong: String
    /// The number of bytes received so far, which is compared with `maximum` and `announced`.
    private var count = 0

    /// Creates the sequence of a body's chunks.
    /// - Parameters:
    ///   - maximum: The maximum length of the body, in bytes.
    ///   - announced: The value of `content-length`, or `nil` for a chunked body, whose end is marked.
    ///   - tooLong: The message of the error for a longer body, or `nil` for one that names the maximum.
    init(_ body: HummingbirdCore.RequestBody, maximum: Int, announced: Int?, tooLong: String? = nil) {
        (self.body, self.maximum, self.announced) = (body.makeAsyncIterator(), maximum, announced)
        self.tooLong = tooLong ?? "a file has at most \(maximum) bytes: send it in parts"
    }

    func makeAsyncIterator() -> UploadBody { self }

    /// Returns the next chunk, or `nil` at the end of the body.
    /// - Throws: ``RequestError`` for a body that is too long or incomplete, or the error of the connection.
    @concurrent mutating func next() async throws -> ByteBuffer? {
        guard let buffer = try await self.body.next() else {
            guard self.count >= self.announced ?? 0 else {
                throw RequestError(.invalid, code: "incomplete_body", message: "the body ended too early")
            }
            return nil
        }
        self.count += buffer.readableBytes
        guard self.count <= self.maximum else {
            throw RequestError(.tooLarge, code: "body_too_large", message: self.tooLong)
        }
        return buffer
    }
}
