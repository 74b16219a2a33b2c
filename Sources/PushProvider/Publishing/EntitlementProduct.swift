package import Foundation
package import ProviderModel
package import PushTypes

/// The product of an issue that is not free, about which entitlement is decided.
package struct EntitlementProduct: Hashable, Sendable {
    package let productID: String
    package let publication: UUID
    package let publishedAt: Timestamp?
    /// The beginning of the issue's day, in UTC.
    package let date: Timestamp

    package init(_ issue: IssueRecord) {
        self.productID = issue.productID
        self.date = Timestamp(seconds: issue.date.dayNumber * 86_400)
        (self.publication, self.publishedAt) = (issue.publication, issue.publishedAt)
    }
}
