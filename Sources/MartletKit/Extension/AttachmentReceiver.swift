import Foundation

/// Receives one attachment into a file, as ``AttachmentDownload`` decides.
final class AttachmentReceiver: Sendable {
    private struct State {
        var download: AttachmentDownload
        /// `nil` once it is closed.
        var file: FileHandle?
    }

    /// The meaning of a part for the exchange that it came with.
    enum OnPart {
        /// The exchange goes on.
        case taken
        /// Another URL has the file.
        case redirected
    }

    private let state: LockedValue<State>

    init(_ download: AttachmentDownload, file: FileHandle) {
        self.state = LockedValue(State(download: download, file: file))
    }

    /// The URL to request.
    var url: URL { self.state.withLock { $0.download.url.url } }

    /// Takes a part of a response.
    /// - Throws: ``AttachmentError``
    func take(_ part: ResponsePart) throws(AttachmentError) -> OnPart {
        try self.state.withLock { state throws(AttachmentError) in
            switch part {
            case .head(let response):
                let length = response.headers["content-length"].flatMap { Int64($0) }
                let action = state.download.responded(status: response.status, length: length) { response.headers[$0] }
                switch action {
                case .receive: return .taken
                case .follow: return .redirected
                case .fail(let failure): throw failure
                }
            case .body(let bytes):
                if case .fail(let failure) = state.download.received(bytes) { throw failure }
                do {
                    try state.file?.write(contentsOf: bytes)
                } catch {
                    throw .file("\(error)".forLog)
                }
                return .taken
            }
        }
    }

    /// Returns the verified type of the whole file.
    /// - Throws: ``AttachmentError``
    func finish() throws(AttachmentError) -> AttachmentType {
        try self.state.withLock { state throws(AttachmentError) in try state.download.finished() }
    }

    /// Closes the file. What arrives later is not written.
    func close() {
        self.state.withLock { state in
            try? state.file?.close()
            state.file = nil
        }
    }
}
