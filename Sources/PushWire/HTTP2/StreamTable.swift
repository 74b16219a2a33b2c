/// What a connection remembers of an open stream.
@usableFromInline
package protocol StreamTableEntry {
    /// Never 0.
    var id: UInt32 { get }
}

/// The open streams of a connection, found by their id.
///
/// Streams lie densely in an array; a hash table beside it finds them. Where a place is taken, the next one serves
/// (linear probing), so ids that follow each other must not lie side by side: runs would make removal slow.
@usableFromInline
package struct StreamTable<Stream: StreamTableEntry> {
    @usableFromInline var open: [Stream] = []
    /// 0 is a free place.
    @usableFromInline var ids: [UInt32]
    /// In `streams`.
    @usableFromInline var positions: [Int]

    @usableFromInline
    package init() {
        self.ids = Array(repeating: 0, count: 64)
        self.positions = Array(repeating: 0, count: 64)
    }

    /// In no order.
    @inlinable package var streams: [Stream] { self.open }
    @inlinable package var count: Int { self.open.count }
    /// Places in memory, used or not.
    package var capacity: Int { max(self.ids.count, self.open.capacity) }

    @inlinable
    package subscript(position: Int) -> Stream {
        get { self.open[position] }
        _modify { yield &self.open[position] }
    }

    /// Where the stream lies until the next removal; `nil` if it is not open.
    @inlinable
    package func position(of id: UInt32) -> Int? {
        guard let place = self.place(of: id) else { return nil }
        return self.positions[place]
    }

    @inlinable
    package mutating func insert(_ stream: Stream) {
        if (self.count + 1) * 2 > self.ids.count { self.grow() }
        self.link(stream.id, to: self.open.count)
        self.open.append(stream)
    }

    @inlinable
    package mutating func remove(_ id: UInt32) -> Stream? {
        guard let place = self.place(of: id) else { return nil }
        let position = self.positions[place]
        self.unlink(place)
        let stream = self.open[position]
        let last = self.open.removeLast()
        if last.id != id {
            self.open[position] = last
            if let moved = self.place(of: last.id) { self.positions[moved] = position }
        }
        return stream
    }

    /// All open streams, in the order in which they were opened.
    @inlinable
    package mutating func removeAll() -> [Stream] {
        let all = self.open.sorted { $0.id < $1.id }
        self = Self()
        return all
    }

    // MARK: Hash table

    @inlinable var mask: Int { self.ids.count - 1 }

    /// Multiplication by the golden ratio spreads neighbours.
    @inlinable func home(_ id: UInt32) -> Int { Int((id &* 0x9e37_79b9) >> 8) & self.mask }

    @inlinable
    func place(of id: UInt32) -> Int? {
        guard id != 0 else { return nil }
        var place = self.home(id)
        while self.ids[place] != 0 {
            if self.ids[place] == id { return place }
            place = (place + 1) & self.mask
        }
        return nil
    }

    @inlinable
    mutating func link(_ id: UInt32, to position: Int) {
        var place = self.home(id)
        while self.ids[place] != 0 { place = (place + 1) & self.mask }
        self.ids[place] = id
        self.positions[place] = position
    }

    /// Frees a place and moves back those after it that are not where they want to be.
    @inlinable
    mutating func unlink(_ start: Int) {
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

    @inlinable
    mutating func grow() {
        self.ids = Array(repeating: 0, count: self.ids.count * 2)
        self.positions = Array(repeating: 0, count: self.ids.count)
        for (position, stream) in self.open.enumerated() { self.link(stream.id, to: position) }
    }
}
