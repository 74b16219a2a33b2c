package import Foundation
package import PushTypes

/// The publications of apps with their issues, and what the catalogue shows of them.
package protocol PublishingStore: Sendable {
    /// Adds a publication to an app, unless it has ``PublicationRecord/maximumOfApp``.
    func addPublication(_ publication: PublicationRecord) async throws -> PublicationAdditionResult
    /// Returns the publications of an app by name.
    func publications(app: Int64) async throws -> [PublicationRecord]
    func publication(_ id: UUID) async throws -> PublicationRecord?
    /// Changes a publication in one transaction.
    /// - Returns: The publication after that; `nil` if there is none with this id.
    func changePublication(_ id: UUID, _ changes: PublicationChanges) async throws -> PublicationRecord?
    /// Removes a publication without issues.
    func deletePublication(_ id: UUID) async throws -> PublicationDeletionResult

    /// Adds a draft to its publication.
    func addIssue(_ issue: IssueRecord) async throws -> IssueChangeResult
    /// Returns the issues of a publication in an order.
    /// - Parameter state: Returns only those in this state; `nil` for all.
    func issues(
        publication: UUID,
        state: IssueState?,
        order: IssueOrder,
        after: IssueCursor?,
        limit: Int
    ) async throws -> [IssueRecord]
    func issue(_ id: UUID) async throws -> IssueRecord?
    func issue(app: Int64, productID: String) async throws -> IssueRecord?
    /// Returns the issues of an app with some product ids, in no order.
    func issues(app: Int64, productIDs: Set<String>) async throws -> [IssueRecord]
    /// Changes an issue in one transaction.
    func changeIssue(_ id: UUID, _ changes: IssueChanges, now: Timestamp) async throws -> IssueChangeResult
    /// Removes an issue that is not published.
    func deleteIssue(_ id: UUID, now: Timestamp) async throws -> IssueDeletionResult
    /// Sets or removes the file of an issue for a screen size.
    func setRendition(_ size: ScreenSize, of issue: UUID, to file: ContentHash?, now: Timestamp) async throws
        -> IssueChangeResult
    /// Sets or removes the cover of an issue. The file of a cover has the media type of its content.
    func setCover(of issue: UUID, to file: CoverFile?, now: Timestamp) async throws -> IssueChangeResult

    /// Returns a number that differs after each change of what the catalogue of an app may show.
    func catalogueVersion(app: Int64) async throws -> Int64
    /// Returns published issues of an app, the newest first.
    /// - Parameter account: The publisher's account; with it also the publications of that account are included.
    func catalogue(app: Int64, account: String?, after: IssueCursor?, limit: Int) async throws -> [IssueRecord]
}
