package import Foundation
package import PushSupport
package import PushTypes

/// The state of an issue.
package enum IssueState: String, CaseIterable, Hashable, Sendable {
    /// The issue is being prepared, and is not in the catalogue.
    case draft
    /// The issue is in the catalogue, and can be downloaded.
    case published
    /// The issue was published, but has been removed from the catalogue and can no longer be downloaded.
    case withdrawn
}

/// The condition on which an issue may be downloaded.
package enum IssueAccess: String, CaseIterable, Hashable, Sendable {
    /// Every account may download the issue.
    case free
    /// Only accounts that are entitled by a purchase or a subscription may download the issue.
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
    /// The issue number that readers see, such as 7 or 3/2026; `nil` for none.
    package var number: String?
    package var date: CivilDate
    package var state = IssueState.draft
    package var access: IssueAccess
    package var createdAt: Timestamp
    /// The time at which the issue was last published; `nil` if it never was.
    package var publishedAt: Timestamp?
    package var cover: FileRecord?
    /// The renditions, the smallest first.
    package var renditions: [RenditionRecord] = []
    /// The latest notification that announced the issue; `nil` if none did.
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

    /// Returns the rendition for a screen: that of its size, or else the largest one that fits; `nil` if none fits.
    package func rendition(for screen: ScreenSize) -> RenditionRecord? {
        self.renditions.last { $0.screenSize == screen }
            ?? self.renditions.filter { $0.screenSize.fits(on: screen) }
            .max { $0.screenSize < $1.screenSize }
    }
}

/// A position in a list of issues.
package struct IssueCursor: Hashable, Sendable {
    /// The date of the issue, in days since 1970.
    package let day: Int64
    package let position: Int64

    package init(day: Int64, position: Int64) { (self.day, self.position) = (day, position) }
}

/// The file of an issue for one screen size.
package struct RenditionRecord: Hashable, Sendable {
    package let screenSize: ScreenSize
    package let file: FileRecord

    package init(screenSize: ScreenSize, file: FileRecord) { (self.screenSize, self.file) = (screenSize, file) }
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
    /// Nothing is changed: another issue of the app has the product id.
    case productIDTaken
    /// Nothing is added: the app has reached the maximum number of issues, or the issue that of renditions.
    case tooMany
    /// Nothing is changed: the product id of an issue that was published is fixed.
    case wasPublished
    /// Nothing is changed, because a draft cannot be withdrawn.
    case isDraft
    /// Nothing is changed: the app has no file with the given hash.
    case noFile
}

/// The result of removing an issue.
package enum IssueDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// Nothing is removed, because the issue is published.
    case isPublished
}

/// The size of a screen in pixels, such as 2048x1536.
///
/// The longer side comes first, so that both orientations of a screen are one size.
package struct ScreenSize: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The allowed lengths of a side, in pixels.
    package static let sides = 1...99_999

    package let longer, shorter: Int

    /// Creates a size; `nil` unless both sides are in ``sides``.
    package init?(_ one: Int, _ other: Int) {
        guard Self.sides.contains(one), Self.sides.contains(other) else { return nil }
        (self.longer, self.shorter) = (max(one, other), min(one, other))
    }

    /// Reads two numbers without leading zeros around an `x`; `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let one = Self.side(parts[0]), let other = Self.side(parts[1]) else { return nil }
        self.init(one, other)
    }

    private static func side(_ text: Substring) -> Int? {
        let isNumber = text.utf8.count <= 5 && text.first != "0" && text.utf8.allSatisfy { (48...57).contains($0) }
        return isNumber ? Int(text) : nil
    }

    package var description: String { "\(self.longer)x\(self.shorter)" }

    /// Returns `true` if content of this size fits on a screen of another one.
    package func fits(on other: ScreenSize) -> Bool { self.longer <= other.longer && self.shorter <= other.shorter }

    /// Compares by the number of pixels, then by the longer side.
    package static func < (left: ScreenSize, right: ScreenSize) -> Bool {
        (left.longer * left.shorter, left.longer) < (right.longer * right.shorter, right.longer)
    }
}
