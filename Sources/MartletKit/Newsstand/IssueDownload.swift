#if canImport(CryptoKit) || Encryption
import Foundation

/// A state machine for the download of one file. Some bytes of the file may already be present.
struct IssueDownload {
    /// The maximum number of bytes that are kept of the body of an error response. The rest is dropped.
    static let maximumError = 16 * 1024

    private enum State {
        /// A state in which the request was sent and no response has arrived yet.
        case requested
        /// A state in which the body is arriving. The value is the number of the file's bytes that are present so far.
        case receiving(Int64)
        /// A state in which the response is an error, and its body is being read.
        case refused(TransportResponse)
    }

    private let file: PublishedFile
    private let present: Int64
    private var state = State.requested

    /// Creates the state of a download whose request is to be sent.
    /// - Parameter present: The number of bytes that are already present, which must not exceed the size of the file.
    init(_ file: PublishedFile, present: Int64) { (self.file, self.present) = (file, present) }

    /// The header fields of the request. They request the missing bytes, or the whole file if it has changed.
    var headers: [String: String] {
        // A decoded body would have another size.
        var headers = ["accept-encoding": "identity"]
        guard self.present > 0 else { return headers }
        headers["range"] = "bytes=\(self.present)-"
        headers["if-range"] = "\"\(self.file.sha256)\""
        return headers
    }

    enum OnResponse: Equatable {
        /// Append the body to the bytes that are present.
        case append
        /// Remove the bytes that are present, and store the body from the start.
        case beginAnew
        case readError
    }

    /// Processes the head of a response, and returns what to do with its body.
    /// - Throws: ``NewsstandError/malformed(_:)`` for a response that does not fit the request.
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
        /// Skip the bytes, because they belong to an error response.
        case skip
    }

    /// Processes the next bytes of the body, and returns what to do with them.
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

    /// Checks the download after the end of the body.
    /// - Throws: The error of the response, or ``NewsstandError/unavailable(reason:retryAfter:)`` for a body that is
    ///   too short.
    func ended() throws(NewsstandError) {
        switch self.state {
        case .receiving(let count): guard count == self.file.size else { throw Self.broken }
        case .refused(let response): throw NewsstandError(response) ?? Self.broken
        case .requested: throw Self.broken
        }
    }

    private static let broken = NewsstandError.unavailable(reason: "the connection was broken off", retryAfter: nil)
}

/// A transfer that performs one download, as ``IssueDownload`` decides.
final class IssueTransfer: Sendable {
    /// The maximum time without a received byte, after which the download fails.
    static let silence: Duration = .seconds(30)

    /// The request for the missing bytes, or `nil` if none is missing.
    let request: TransportRequest?
    private let file: PublishedFile
    private let partial: any PartialContent
    private let progress: @Sendable (Int64) -> Void
    private let download: LockedValue<IssueDownload>

    init(
        _ file: PublishedFile,
        into partial: any PartialContent,
        progress: @escaping @Sendable (Int64) -> Void
    ) throws(NewsstandError) {
        (self.file, self.partial, self.progress) = (file, partial, progress)
        // The bytes belong to another file.
        if partial.count > file.size { try partial.removeAll() }
        let download = IssueDownload(file, present: partial.count)
        self.download = LockedValue(download)
        let isWhole = partial.count == file.size && file.size > 0
        self.request =
            isWhole
            ? nil
            : TransportRequest(method: "GET", url: file.url, headers: download.headers, deadline: Self.silence)
    }

    /// Processes a part of the response, and stores the bytes of a body.
    /// - Throws: ``NewsstandError`` if the download fails.
    func receive(_ part: ResponsePart) throws(NewsstandError) {
        try self.download.withLock { download throws(NewsstandError) in
            switch part {
            case .head(let response): if try download.responded(response) == .beginAnew { try self.partial.removeAll() }
            case .body(let bytes):
                do throws(NewsstandError) {
                    guard try download.received(bytes) == .write else { return }
                } catch {
                    if error == .wrongContent { try self.partial.removeAll() }
                    throw error
                }
                try self.partial.append(bytes)
                self.progress(self.partial.count)
            }
        }
    }

    /// Checks the file after the end of the response.
    /// - Throws: ``NewsstandError`` for a file that is incomplete or has another SHA-256.
    func finish() throws(NewsstandError) {
        if self.request != nil {
            try self.download.withLock { download throws(NewsstandError) in try download.ended() }
        }
        guard self.partial.sha256 == self.file.sha256 else {
            try self.partial.removeAll()
            throw NewsstandError.wrongContent
        }
    }
}
#endif
