/// Values in numbered slots that stay theirs until they are removed.
@usableFromInline
package struct SlotTable<Value> {
    @usableFromInline var slots: [Value?] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline let keptSlots: Int

    /// - Parameter keptSlots: The number of slots whose memory an empty table keeps.
    @inlinable
    package init(keptSlots: Int) {
        self.keptSlots = keptSlots
    }

    /// The values, in no order.
    @inlinable package var values: some Sequence<Value> { self.slots.lazy.compactMap { $0 } }

    @inlinable
    package subscript(slot: Int) -> Value? {
        _read { yield self.slots[slot] }
        _modify { yield &self.slots[slot] }
    }

    /// - Returns: The slot of the value.
    @inlinable
    package mutating func insert(_ value: Value) -> Int {
        if let slot = self.free.popLast() {
            self.slots[slot] = value
            return slot
        }
        self.slots.append(value)
        return self.slots.count - 1
    }

    @inlinable
    package mutating func remove(_ slot: Int) -> Value? {
        guard let value = self.slots[slot].take() else { return nil }
        self.free.append(slot)
        // After a burst the memory is returned.
        if self.free.count == self.slots.count, self.slots.count > self.keptSlots {
            self = Self(keptSlots: self.keptSlots)
        }
        return value
    }
}
