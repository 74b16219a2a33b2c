import PushTesting
import PushTypes

/// A suite that every implementation of a store passes. Its tests begin at one time, and their leases end a minute later.
protocol StoreContract {}

extension StoreContract {
    var now: Timestamp { Vectors.issuedAt }
    var later: Timestamp { self.now.advanced(by: .seconds(60)) }
}
