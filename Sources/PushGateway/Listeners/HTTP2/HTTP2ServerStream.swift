import NIOCore
import PushWire

/// An open stream of a provider's connection.
struct HTTP2ServerStream: StreamTableEntry {
    enum State {
        /// The request is not complete; where it lies.
        case receiving(Int)
        case awaitingAnswer
        /// The answer's body waits for a window.
        case sending
    }

    let id: UInt32
    /// How much body the client takes, in bytes; a change of settings can make it negative.
    var sendWindow: Int
    var state: State
    /// The request was HEAD: its answer has no content (RFC 9110 section 9.3.2).
    var omitsBody = false
    /// Is set while the stream is among ``HTTP2ServerStateMachine/ready``.
    var isReady = false
}

/// A request of which the end is missing.
struct IncompleteRequest {
    var stream: UInt32
    var request: ProviderRequest
    /// `content-length`; negative where there was none.
    var contentLength: Int
    /// When waiting for the end of the request ends.
    var deadline: NIODeadline
    /// How much body the client may still send, in bytes.
    var window = HTTP2Constants.defaultWindow
    /// The bytes that the stream makes the connection hold, as ``HTTP2ServerStateMachine/heldBytes`` counts.
    var held = 0
}

/// Values in places that stay theirs until they are taken out.
struct SlotTable<Value> {
    /// Kept when they are all free.
    private static var keptSlots: Int { 64 }

    private(set) var slots: [Value?] = []
    private var free: [Int] = []

    subscript(slot: Int) -> Value? {
        get { self.slots[slot] }
        _modify { yield &self.slots[slot] }
    }

    mutating func insert(_ value: Value) -> Int {
        if let slot = self.free.popLast() {
            self.slots[slot] = value
            return slot
        }
        self.slots.append(value)
        return self.slots.count - 1
    }

    mutating func remove(_ slot: Int) -> Value? {
        guard let value = self.slots[slot].take() else { return nil }
        self.free.append(slot)
        // After a burst the memory goes back.
        if self.free.count == self.slots.count, self.slots.count > Self.keptSlots { self = Self() }
        return value
    }
}
