public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads the attachment of a notification into a file.
public struct AttachmentLoader: Sendable {
    private let folder: URL
    private let policy: AttachmentPolicy

    /// - Parameter folder: the folder for the files, which is made if it is missing. The caller removes them; the system moves
    ///   away what it shows.
    public init(folder: URL, policy: AttachmentPolicy = AttachmentPolicy()) {
        (self.folder, self.policy) = (folder, policy)
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
        do {
            try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
            try Data().write(to: unfinished, options: .withoutOverwriting)
            let transfer = AttachmentTransfer(download, file: try FileHandle(forWritingTo: unfinished))
            let type = try await transfer.run(deadline: self.policy.deadline).get()
            let file = self.folder.appending(path: "\(UUID().uuidString).\(type.fileExtension)")
            try FileManager.default.moveItem(at: unfinished, to: file)
            return DownloadedAttachment(file: file, type: type)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            throw error as? AttachmentError ?? .file("\(error)".forLog)
        }
    }
}

/// A downloaded attachment.
public struct DownloadedAttachment: Hashable, Sendable {
    public let file: URL
    /// The type that was declared, and that the first bytes of the file have.
    public let type: AttachmentType
}
