package import Foundation
package import PushSupport
package import PushTypes

/// The state of an issue.
package enum IssueState: String, CaseIterable, Hashable, Sendable {
    /// The state of an issue that is being prepared, and is not in the catalogue.
    case draft
    /// The state of an issue that is in the catalogue, and can be downloaded.
    case published
    /// The state of an issue that was removed from the catalogue after its publication and can no longer be downloaded.
    case withdrawn
}

/// The condition on which an issue may be downloaded.
package enum IssueAccess: String, CaseIterable, Hashable, Sendable {
    /// The condition of an issue that every account may download.
    case free
    /// The condition of an issue that only accounts entitled by a purchase or a subscription may download.
    case retail
}

/// An issue of a publication.
package struct IssueRecord: Hashable, Sendable {
    /// The maximum number of issues of an app, and of renditions of an issue. A further one is rejected.
    package static let (maximumOfApp, maximumRenditions) = (20_000, 20)
    /// The maximum length of a product id, in bytes.
    package static let maximumProductID = 256

    package var id: UUID
    package var app: Int64
    package var publication: UUID
    /// The name of the issue in the app store and in pushes, unique in its app.
    package var productID: String
    package var title: String
    /// The issue number that readers see, such as 7 or 3/2026, or `nil` for none.
    package var number: String?
    package var date: CivilDate
    package var state = IssueState.draft
    package var access: IssueAccess
    package var createdAt: Timestamp
    /// The time at which the issue was last published, or `nil` if it never was.
    package var publishedAt: Timestamp?
    package var cover: FileRecord?
    /// The renditions, the smallest first.
    package var renditions: [RenditionRecord] = []
    /// The latest notification that announced the issue, or `nil` if none did.
    package var notification: UUID?
    /// The position of the issue in lists, among the issues of the same date. The store assigns it.
    package var position: Int64 = 0

    package init(
        id: UUID,
        app: Int64,
        publication: UUID,
        productID: String,
        title: String,
        date: CivilDate,
        access: IssueAccess,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.publication, self.productID) = (id, app, publication, productID)
        (self.title, self.date, self.access, self.createdAt) = (title, date, access, createdAt)
    }

    /// The position of the issue in lists, which have the newest first.
    package var cursor: IssueCursor { IssueCursor(day: self.date.dayNumber, position: self.position) }
}

/// A position in a list of issues.
package struct IssueCursor: Hashable, Sendable {
    /// The date of the issue, in days since 1970.
    package let day: Int64
    package let position: Int64

    package init(day: Int64, position: Int64) { (self.day, self.position) = (day, position) }
}

/// The order of a list of issues, by date.
package enum IssueOrder: String, CaseIterable, Hashable, Sendable {
    case newest, oldest
}

/// Changes to an issue. A property that is `nil` is kept.
package struct IssueChanges: Hashable, Sendable {
    package var productID, title: String?
    package var number: Update<String>?
    package var date: CivilDate?
    package var access: IssueAccess?
    package var state: IssueState?

    package init() {}
}

/// The result of adding or changing an issue.
package enum IssueChangeResult: Hashable, Sendable {
    case done(IssueRecord)
    case missing
    /// A refusal because another issue of the app has the product id.
    case productIDTaken
    /// A refusal because the app has the maximum number of issues, or the issue has the maximum number of renditions.
    case tooMany
    /// A refusal because the product id of an issue that was published is fixed.
    case wasPublished
    /// A refusal because a draft cannot be withdrawn.
    case isDraft
    /// A refusal because the app has no file with the given hash.
    case noFile
}

/// The result of removing an issue.
package enum IssueDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// A refusal because the issue is published.
    case isPublished
}
