import Hummingbird
import PushSupport

/// The body of a request as it arrives, with a limit, and with an error if it ends before its announced length.
///
/// The idle timeout of the server ends a body that stalls.
struct UploadBody: AsyncSequence, AsyncIteratorProtocol {
    private var body: HummingbirdCore.RequestBody.AsyncIterator
    private let maximum: Int
    private let announced: Int?
    /// The bytes that have arrived.
    private var count = 0

    /// - Parameters:
    ///   - maximum: In bytes.
    ///   - announced: The value of `content-length`; `nil` for a chunked body, whose end is marked.
    init(_ body: HummingbirdCore.RequestBody, maximum: Int, announced: Int?) {
        (self.body, self.maximum, self.announced) = (body.makeAsyncIterator(), maximum, announced)
    }

    func makeAsyncIterator() -> UploadBody { self }

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
            let message = "a file has at most \(self.maximum) bytes: send it in parts"
            throw RequestError(.tooLarge, code: "body_too_large", message: message)
        }
        return buffer
    }
}
