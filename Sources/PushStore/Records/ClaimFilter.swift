/// A selection among the shards and retries that are due.
package struct ClaimFilter: Hashable, Sendable {
    /// The leases that the caller works under.
    package struct Held: Hashable, Sendable {
        /// Their fencing numbers.
        package var fences: Set<Int64>
        /// The highest fencing number of which the caller knows whether it holds it: later ones may be on their way to it.
        package var upTo: Int64

        package init(fences: Set<Int64>, upTo: Int64) {
            self.fences = fences
            self.upTo = upTo
        }
    }

    /// No retries of these apps.
    package var apps: Set<Int64>
    /// No shards of notifications to these.
    package var services: Set<DispatchTarget>
    /// A lease of the caller's that is not among these is lost: its claim was never answered, or its page never written.
    /// `nil` leaves the decision to the time at which each lease ends.
    package var held: Held?

    package init(excluding apps: Set<Int64> = [], services: Set<DispatchTarget> = [], held: Held? = nil) {
        self.apps = apps
        self.services = services
        self.held = held
    }
}
