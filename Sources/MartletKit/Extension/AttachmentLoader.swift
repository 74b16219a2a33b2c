public import Foundation

/// A loader that downloads the attachment of a notification into a file.
public struct AttachmentLoader: Sendable {
    /// The error that terminates an exchange whose response is a redirect.
    private struct Redirection: Error {}

    private let folder: URL
    private let policy: AttachmentPolicy
    private let transport: any DownloadTransport

    /// Creates a loader.
    /// - Parameters:
    ///   - folder: The folder for the files, which is created if it is missing. The caller must delete the files,
    ///     except those that the system moves away to show them.
    ///   - policy: The limits of the downloads.
    ///   - transport: The transport of the downloads, by default `URLSession`.
    public init(
        folder: URL,
        policy: AttachmentPolicy = AttachmentPolicy(),
        transport: any DownloadTransport = URLSessionTransport()
    ) {
        (self.folder, self.policy, self.transport) = (folder, policy, transport)
    }

    /// Downloads the file of the payload's member `attachment`: an `https` URL, or an object with `url` and `type`.
    ///
    /// The file's name is generated, and contains nothing from the payload or the server. A download that fails or is
    /// cancelled leaves no file.
    /// - Returns: The file, or `nil` if the notification has no attachment.
    /// - Throws: ``AttachmentError`` if the file cannot be downloaded or stored.
    public func attachment(of notification: ReceivedNotification) async throws(AttachmentError) -> DownloadedAttachment?
    {
        guard let member = notification.data["attachment"], member != .null else { return nil }
        return try await self.load(try AttachmentDownload(member, policy: self.policy))
    }

    private func load(_ download: AttachmentDownload) async throws(AttachmentError) -> DownloadedAttachment {
        let unfinished = self.folder.appending(path: UUID().uuidString)
        do throws(AttachmentError) {
            let handle = try Self.writing {
                try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
                try Data().write(to: unfinished, options: .withoutOverwriting)
                return try FileHandle(forWritingTo: unfinished)
            }
            let type = try await self.receive(AttachmentReceiver(download, file: handle))
            let file = self.folder.appending(path: "\(UUID().uuidString).\(type.fileExtension)")
            try Self.writing { try FileManager.default.moveItem(at: unfinished, to: file) }
            return DownloadedAttachment(file: file, type: type)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            throw error
        }
    }

    private static func writing<Value>(_ body: () throws -> Value) throws(AttachmentError) -> Value {
        do { return try body() } catch { throw .file("\(error)".forLog) }
    }

    /// Receives the file within the policy's deadline, follows redirects, and returns the type of the file.
    private func receive(_ reception: AttachmentReceiver) async throws(AttachmentError) -> AttachmentType {
        defer { reception.close() }
        let (transport, deadline) = (self.transport, self.policy.deadline)
        do {
            return try await deadline.limiting {
                while true {
                    // A decoded body has another size than its content-length.
                    let request = TransportRequest(
                        method: "GET",
                        url: reception.url,
                        headers: ["accept-encoding": "identity"],
                        // The task group ends the exchange. This deadline is for a process whose tasks do not run.
                        deadline: deadline + .seconds(1)
                    )
                    do {
                        try await transport.receive(request) { part in
                            if try reception.take(part) == .redirected { throw Redirection() }
                        }
                        return try reception.finish()
                    } catch is Redirection {}
                }
            }
        } catch let error as AttachmentError {
            throw error
        } catch TransportError.deadlineExceeded {
            throw .tooLate
        } catch is CancellationError {
            throw .tooLate
        } catch TransportError.noHTTPResponse {
            throw .connection("the response is not HTTP")
        } catch {
            throw Task.isCancelled ? AttachmentError.tooLate : .connection(ProviderResult.text(of: error).forLog)
        }
    }
}

/// An attachment that was downloaded into a file.
public struct DownloadedAttachment: Hashable, Sendable {
    public let file: URL
    /// The declared type, which the first bytes of the file confirm.
    public let type: AttachmentType
}

/// A receiver that writes one attachment to a file, as ``AttachmentDownload`` decides.
private final class AttachmentReceiver: Sendable {
    private struct State {
        var download: AttachmentDownload
        /// The file that receives the body, or `nil` once it is closed.
        var file: FileHandle?
    }

    /// The effect of one part of a response on the download.
    enum OnPart {
        /// An effect of a part: the download continues with the next one.
        case taken
        /// An effect of a part: the response redirects to another URL, which is requested next.
        case redirected
    }

    private let state: LockedValue<State>

    init(_ download: AttachmentDownload, file: FileHandle) {
        self.state = LockedValue(State(download: download, file: file))
    }

    var url: URL { self.state.withLock { $0.download.url.url } }

    /// Processes a part of a response, and writes the bytes of a body to the file.
    /// - Throws: ``AttachmentError`` if the download fails.
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
    /// - Throws: ``AttachmentError`` for a file that is incomplete or of another type.
    func finish() throws(AttachmentError) -> AttachmentType {
        try self.state.withLock { state throws(AttachmentError) in try state.download.finished() }
    }

    /// Closes the file. Bytes that arrive later are not written.
    func close() {
        self.state.withLock { state in
            try? state.file?.close()
            state.file = nil
        }
    }
}
