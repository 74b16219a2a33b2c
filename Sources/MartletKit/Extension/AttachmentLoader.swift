public import Foundation

/// Downloads the attachment of a notification into a file.
public struct AttachmentLoader: Sendable {
    /// Ends an exchange whose response leads to another URL.
    private struct Redirection: Error {}

    private let folder: URL
    private let policy: AttachmentPolicy
    private let transport: any DownloadTransport

    /// - Parameters:
    ///   - folder: the folder for the files, which is made if it is missing. The caller removes them; the system moves
    ///     away what it shows.
    ///   - transport: what carries the downloads. By default it is `URLSession`.
    public init(
        folder: URL,
        policy: AttachmentPolicy = AttachmentPolicy(),
        transport: any DownloadTransport = URLSessionTransport()
    ) {
        (self.folder, self.policy, self.transport) = (folder, policy, transport)
    }

    /// Downloads what the payload's member `attachment` names: an `https` URL, or an object with `url` and `type`.
    ///
    /// The name of the file is made here: neither the payload nor the server has a part in it. A download that fails, or is
    /// cancelled, leaves no file.
    /// - Returns: The file; `nil` if the notification has no attachment.
    /// - Throws: ``AttachmentError``
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

    /// Receives the file within the deadline, redirects included.
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
                        // The deadline ends the exchange; this is for a process whose tasks do not run.
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

/// A downloaded attachment.
public struct DownloadedAttachment: Hashable, Sendable {
    public let file: URL
    /// The type that was declared, and that the first bytes of the file have.
    public let type: AttachmentType
}
