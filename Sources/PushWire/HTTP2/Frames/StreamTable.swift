/// The state of an open stream that a ``StreamTable`` holds.
protocol StreamTableEntry {
    /// The id of the stream, which is never 0.
    var id: UInt32 { get }
}

/// The open streams of a connection, with look-up by id. The streams are stored contiguously in an array, and a hash
/// table maps ids to their indexes. If a bucket is occupied, the next one is used (linear probing). Consecutive ids are
/// spread over the table, because long runs of occupied buckets would make removal slow.
struct StreamTable<Stream: StreamTableEntry> {
    private(set) var streams: [Stream] = []
    /// The id in each bucket of the hash table, or 0 for a free bucket.
    private var ids = [UInt32](repeating: 0, count: 64)
    /// The index in ``streams`` for each bucket of the hash table.
    private var positions = [Int](repeating: 0, count: 64)

    var count: Int { self.streams.count }
    /// The number of allocated buckets or of allocated array elements, whichever is greater.
    var capacity: Int { max(self.ids.count, self.streams.capacity) }

    subscript(position: Int) -> Stream {
        get { self.streams[position] }
        _modify { yield &self.streams[position] }
    }

    /// Returns the index of the stream, valid until the next removal, or `nil` if the stream is not open.
    func position(of id: UInt32) -> Int? {
        guard let place = self.place(of: id) else { return nil }
        return self.positions[place]
    }

    mutating func insert(_ stream: Stream) {
        if (self.count + 1) * 2 > self.ids.count { self.grow() }
        self.link(stream.id, to: self.streams.count)
        self.streams.append(stream)
    }

    mutating func remove(_ id: UInt32) -> Stream? {
        guard let place = self.place(of: id) else { return nil }
        let position = self.positions[place]
        self.unlink(place)
        let stream = self.streams[position]
        let last = self.streams.removeLast()
        if last.id != id {
            self.streams[position] = last
            if let moved = self.place(of: last.id) { self.positions[moved] = position }
        }
        return stream
    }

    mutating func removeAll() -> [Stream] {
        let all = self.streams.sorted { $0.id < $1.id }
        self = Self()
        return all
    }

    func sorted(where matches: (Stream) -> Bool) -> [Stream] { self.streams.filter(matches).sorted { $0.id < $1.id } }

    // MARK: Hash table

    private var mask: Int { self.ids.count - 1 }

    /// Returns the preferred bucket of an id. Multiplication by the golden ratio spreads consecutive ids.
    private func home(_ id: UInt32) -> Int { Int((id &* 0x9e37_79b9) >> 8) & self.mask }

    private func place(of id: UInt32) -> Int? {
        guard id != 0 else { return nil }
        var place = self.home(id)
        while self.ids[place] != 0 {
            if self.ids[place] == id { return place }
            place = (place + 1) & self.mask
        }
        return nil
    }

    private mutating func link(_ id: UInt32, to position: Int) {
        var place = self.home(id)
        while self.ids[place] != 0 { place = (place + 1) & self.mask }
        self.ids[place] = id
        self.positions[place] = position
    }

    /// Frees a bucket, and moves later entries to it and to the buckets that become free, if that brings them closer to
    /// their preferred buckets.
    private mutating func unlink(_ start: Int) {
        var gap = start
        var place = (start + 1) & self.mask
        while self.ids[place] != 0 {
            if (place - self.home(self.ids[place])) & self.mask >= (place - gap) & self.mask {
                self.ids[gap] = self.ids[place]
                self.positions[gap] = self.positions[place]
                gap = place
            }
            place = (place + 1) & self.mask
        }
        self.ids[gap] = 0
    }

    private mutating func grow() {
        self.ids = Array(repeating: 0, count: self.ids.count * 2)
        self.positions = Array(repeating: 0, count: self.ids.count)
        for (position, stream) in self.streams.enumerated() { self.link(stream.id, to: position) }
    }
}

/// A table of values. Each value occupies a numbered slot, which does not change until the value is removed.
@usableFromInline
package struct SlotTable<Value> {
    @usableFromInline var slots: [Value?] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline let keptSlots: Int

    /// Creates a table. While it is empty, it retains the memory of at most `keptSlots` slots.
    @inlinable
    package init(keptSlots: Int) { self.keptSlots = keptSlots }

    @inlinable package var values: some Sequence<Value> { self.slots.lazy.compactMap { $0 } }

    @inlinable
    package subscript(slot: Int) -> Value? {
        _read { yield self.slots[slot] }
        _modify { yield &self.slots[slot] }
    }

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
        // The memory is released after a burst.
        if self.free.count == self.slots.count, self.slots.count > self.keptSlots {
            self = Self(keptSlots: self.keptSlots)
        }
        return value
    }
}
