package import PushTypes

/// The place up to which the events of a gateway have been read: its newest event.
package struct GatewayCursor: Hashable, Sendable {
    /// The number of the event; 0 before the first one.
    package var position: Int64
    /// The time of the event, by which it is told from that of another log; `nil` if it is not known.
    package var at: Timestamp?

    package init(position: Int64, at: Timestamp? = nil) { (self.position, self.at) = (position, at) }
}
