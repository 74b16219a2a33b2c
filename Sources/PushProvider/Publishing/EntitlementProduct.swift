package import Foundation
package import ProviderModel
package import PushTypes

/// The product of an issue that is not free, for which entitlement is decided.
package struct EntitlementProduct: Hashable, Sendable {
    package let productID: String
    package let publication: UUID
    package let publishedAt: Timestamp?
    /// The start of the issue's date, in UTC.
    package let date: Timestamp

    package init(_ issue: IssueRecord) {
        self.productID = issue.productID
        self.date = Timestamp(seconds: issue.date.dayNumber * 86_400)
        (self.publication, self.publishedAt) = (issue.publication, issue.publishedAt)
    }
}
