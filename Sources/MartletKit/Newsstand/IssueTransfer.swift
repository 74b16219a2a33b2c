#if canImport(CryptoKit) || Encryption
import Foundation

/// Performs one download, as ``IssueDownload`` decides.
final class IssueTransfer: Sendable {
    /// The longest time without a byte.
    static let silence: Duration = .seconds(30)

    /// The request for what is missing; `nil` if everything is there.
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
        // It is what another file has left.
        if partial.count > file.size { try partial.removeAll() }
        let download = IssueDownload(file, present: partial.count)
        self.download = LockedValue(download)
        let isWhole = partial.count == file.size && file.size > 0
        self.request =
            isWhole
            ? nil
            : TransportRequest(method: "GET", url: file.url, headers: download.headers, deadline: Self.silence)
    }

    /// Takes a part of the response.
    func receive(_ part: ResponsePart) throws(NewsstandError) {
        try self.download.withLock { download throws(NewsstandError) in
            switch part {
            case .head(let response):
                if try download.responded(response) == .beginAnew { try self.partial.removeAll() }
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

    /// Checks the file, once the response has ended.
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
