package import Foundation
package import ProviderModel
package import PushTypes

/// The store of publications and their issues, and of the catalogue, the list of published issues.
package protocol PublishingStore: Sendable {
    /// Adds a publication, unless its app already has ``PublicationRecord/maximumOfApp`` publications.
    func addPublication(_ publication: PublicationRecord) async throws -> PublicationAdditionResult
    /// Returns the publications of an app, sorted by name.
    func publications(app: Int64) async throws -> [PublicationRecord]
    func publication(_ id: UUID) async throws -> PublicationRecord?
    /// Changes a publication in one transaction.
    /// - Returns: The publication after the change, or `nil` if no publication has this id.
    func changePublication(_ id: UUID, _ changes: PublicationChanges) async throws -> PublicationRecord?
    /// Removes a publication, unless it still has issues. The result tells whether it was removed.
    func deletePublication(_ id: UUID) async throws -> PublicationDeletionResult

    /// Adds an issue as a draft, unless its app already has the product id or ``IssueRecord/maximumOfApp`` issues.
    func addIssue(_ issue: IssueRecord) async throws -> IssueChangeResult
    /// Returns the issues of a publication in the given order.
    /// - Parameters:
    ///   - state: The state that the issues must have, or `nil` for any state.
    ///   - after: The position of the last issue on the previous page, or `nil` for the first page.
    func issues(
        publication: UUID,
        state: IssueState?,
        order: IssueOrder,
        after: IssueCursor?,
        limit: Int
    ) async throws -> [IssueRecord]
    func issue(_ id: UUID) async throws -> IssueRecord?
    func issue(app: Int64, productID: String) async throws -> IssueRecord?
    /// Returns the issues of an app that have these product ids, in no particular order.
    func issues(app: Int64, productIDs: Set<String>) async throws -> [IssueRecord]
    /// Changes an issue in one transaction. The product id of a published issue cannot change. Withdrawing an issue
    /// cancels its notification.
    func changeIssue(_ id: UUID, _ changes: IssueChanges, now: Timestamp) async throws -> IssueChangeResult
    /// Removes an issue, unless it is published.
    func deleteIssue(_ id: UUID, now: Timestamp) async throws -> IssueDeletionResult
    /// Sets the file of an issue for a screen size, or removes it if `file` is `nil`. The app must have the file.
    func setRendition(_ size: ScreenSize, of issue: UUID, to file: ContentHash?, now: Timestamp) async throws
        -> IssueChangeResult
    /// Sets the cover of an issue, or removes it if `file` is `nil`. The cover gets the media type of its content.
    func setCover(of issue: UUID, to file: CoverFile?, now: Timestamp) async throws -> IssueChangeResult

    /// Returns the version of an app's catalogue, which rises with each change, or 0 before the first change.
    func catalogueVersion(app: Int64) async throws -> Int64
    /// Returns published issues of an app, newest first, beginning after `after` or, with `nil`, with the newest.
    /// - Parameter account: The publisher's account whose publications are included in addition, or `nil` for none.
    func catalogue(app: Int64, account: String?, after: IssueCursor?, limit: Int) async throws -> [IssueRecord]
}

/// The store of publications' files and of incomplete uploads.
package protocol FileStore: Sendable {
    /// Adds an upload, unless its app already has ``UploadRecord/maximumOfApp`` incomplete uploads.
    ///
    /// An upload of a file that the app already has counts neither towards `quota` nor towards `files`.
    /// - Parameters:
    ///   - quota: The maximum total size of the app's files and incomplete uploads in bytes, or `nil` for no limit.
    ///   - files: The maximum number of the app's files and incomplete uploads together.
    func addUpload(_ upload: UploadRecord, quota: Int?, files: Int) async throws -> UploadAdditionResult
    func upload(_ id: UUID) async throws -> UploadRecord?
    /// Records how many bytes of an upload are on disk.
    /// - Returns: `true`, or `false` if there is no such upload.
    func noteUpload(_ id: UUID, received: Int, now: Timestamp) async throws -> Bool
    /// Completes an upload, and adds the file to the app. If issues use the file already, its type and name stay.
    /// - Returns: The file, or `nil` if there is no such upload.
    func completeUpload(_ id: UUID, now: Timestamp) async throws -> FileRecord?
    /// Removes an upload. The file of a complete upload stays.
    /// - Returns: `true`, or `false` if there is no such upload.
    func deleteUpload(_ id: UUID) async throws -> Bool
    /// Returns the incomplete uploads of an app. Those that received bytes most recently come first.
    func openUploads(app: Int64) async throws -> [UploadRecord]
    func uploads() async throws -> Set<UUID>
    /// Returns the total size of an app's files and incomplete uploads, in bytes.
    func storedBytes(app: Int64) async throws -> Int
    /// Removes up to `limit` uploads that have received no bytes since a time.
    /// - Returns: The number of removed uploads.
    func forgetUploads(before: Timestamp, limit: Int) async throws -> Int

    func file(_ hash: ContentHash, app: Int64) async throws -> FileRecord?
    /// Returns files of an app in the order of their hashes, beginning after `after` or, with `nil`, with the first.
    func files(app: Int64, after: ContentHash?, limit: Int) async throws -> [FileRecord]
    /// Returns whether any app has a file with this content.
    func hasFile(_ hash: ContentHash) async throws -> Bool
    /// Returns the files of all apps that issues use and whose hashes begin with the given byte.
    func usedFiles(beginning byte: UInt8) async throws -> [UsedFile]
    /// Returns the hashes, beginning with the given byte, of the files of all apps.
    func fileHashes(beginning byte: UInt8) async throws -> Set<ContentHash>
    /// Removes up to `limit` files that became unused before a time.
    /// - Returns: The number of removed files.
    func forgetFiles(unusedSince: Timestamp, limit: Int) async throws -> Int
    /// Returns the file with this hash if the issue is published and uses it, or `nil` otherwise.
    func downloadable(_ hash: ContentHash, issue: UUID) async throws -> UsedFile?
    /// Returns the key that signs the download URLs of files. The first call creates it.
    func addressKey() async throws -> String
}

/// The store of publishers' servers that decide whether a reader is entitled to an issue, at most one per app.
package protocol EntitlementServerStore: Sendable {
    /// Returns the entitlement server of an app, or `nil` if it has none.
    /// - Throws: ``DamagedRow`` if the server cannot be read or its secret cannot be opened.
    func entitlementServer(app: Int64) async throws -> EntitlementServerRecord?
    /// Sets the entitlement server of an app.
    /// - Parameter keepsSecret: Whether the secret of the existing server is kept, if it can be opened. Otherwise the
    ///   secret in `server` is stored.
    /// - Returns: The server as it is stored.
    func setEntitlementServer(
        _ server: EntitlementServerRecord,
        keepsSecret: Bool
    ) async throws -> EntitlementServerRecord
    /// Removes the entitlement server of an app.
    /// - Returns: `true`, or `false` if the app has no server.
    func removeEntitlementServer(app: Int64) async throws -> Bool
}
