#if canImport(CryptoKit) || Encryption
import Foundation

/// Decides about the response to the request for a file, of which some bytes may be there already.
struct IssueDownload {
    /// The longest body of an error that is read, in bytes.
    static let maximumError = 16 * 1024

    private enum State {
        /// A request is on its way.
        case requested
        /// The body is resumed after so many bytes.
        case receiving(Int64)
        /// The response is an error, whose body is read.
        case refused(TransportResponse)
    }

    private let file: PublishedFile
    private let present: Int64
    private var state = State.requested

    /// - Parameter present: The bytes that are there already, no more than the file has.
    init(_ file: PublishedFile, present: Int64) { (self.file, self.present) = (file, present) }

    /// The header fields of the request. A file that has changed comes whole.
    var headers: [String: String] {
        // A decoded body has another size.
        var headers = ["accept-encoding": "identity"]
        guard self.present > 0 else { return headers }
        headers["range"] = "bytes=\(self.present)-"
        headers["if-range"] = "\"\(self.file.sha256)\""
        return headers
    }

    enum OnResponse: Equatable {
        /// Append the body to what is there.
        case append
        /// Remove what is there, and append the body.
        case beginAnew
        /// The body is that of an error.
        case readError
    }

    /// A response has arrived, whose body is still outstanding.
    /// - Throws: ``NewsstandError/malformed(_:)``
    mutating func responded(_ response: TransportResponse) throws(NewsstandError) -> OnResponse {
        switch response.status {
        case 206 where self.present > 0:
            let range = response.headers["content-range"] ?? ""
            guard range.hasPrefix("bytes \(self.present)-") else {
                throw NewsstandError.malformed("the response has another part of the file than was asked for")
            }
            self.state = .receiving(self.present)
            return .append
        case 200:
            self.state = .receiving(0)
            return self.present > 0 ? .beginAnew : .append
        case 200..<300: throw NewsstandError.malformed("status \(response.status) instead of a file")
        default:
            self.state = .refused(TransportResponse(status: response.status, headers: response.headers))
            return .readError
        }
    }

    enum OnBytes: Equatable {
        case write
        /// They belong to an error, or are too many of it.
        case skip
    }

    /// A piece of the body has arrived.
    /// - Throws: ``NewsstandError/wrongContent`` for more bytes than the file has.
    mutating func received(_ bytes: Data) throws(NewsstandError) -> OnBytes {
        switch self.state {
        case .receiving(let count):
            guard Int64(bytes.count) <= self.file.size - count else { throw NewsstandError.wrongContent }
            self.state = .receiving(count + Int64(bytes.count))
            return .write
        case .refused(var response):
            response.body.append(bytes.prefix(Self.maximumError - response.body.count))
            self.state = .refused(response)
            return .skip
        case .requested: throw NewsstandError.malformed("the response has no head")
        }
    }

    /// The body has ended.
    /// - Throws: The error of the response; ``NewsstandError/unavailable(reason:retryAfter:)`` for a body that is too short.
    func ended() throws(NewsstandError) {
        switch self.state {
        case .receiving(let count):
            guard count == self.file.size else { throw Self.broken }
        case .refused(let response): throw NewsstandError(response) ?? Self.broken
        case .requested: throw Self.broken
        }
    }

    private static let broken = NewsstandError.unavailable(reason: "the connection was broken off", retryAfter: nil)
}
#endif
