import Foundation
import ProviderModel
import PushTypes

@testable import PushProvider

extension EntitlementProduct {
    /// Returns a retail issue of 2023-11-20.
    static func retail(_ product: String, publication: UUID = UUID()) -> EntitlementProduct {
        EntitlementProduct(
            IssueRecord(
                id: UUID(),
                app: 1,
                publication: publication,
                productID: product,
                title: "Issue 7",
                date: CivilDate(dayNumber: 19_681),
                access: .retail,
                createdAt: Timestamp(seconds: 1_700_000_000)
            )
        )
    }
}
