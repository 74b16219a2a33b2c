import NIOCore

/// The open streams of a connection, found by their id.
///
/// Streams lie densely in an array; a hash table beside it finds them. Where a place is taken, the next one serves
/// (linear probing), so ids that follow each other must not lie side by side: runs would make removal slow.
struct StreamTable<Ticket> {
    struct Stream {
        let id: UInt32
        /// The caller's own mark of the request.
        let ticket: Ticket
        /// When waiting for the reply ends.
        let deadline: NIODeadline
        /// How much body the peer takes on this stream, in bytes; a change of settings can make it negative.
        var sendWindow: Int
        /// Whether the request has been sent to its end.
        var isSent: Bool
        /// Whether reply or body have parts that are kept aside.
        var hasParts = false
    }

    private(set) var streams: [Stream] = []
    /// 0 is a free place.
    private var ids: [UInt32]
    /// In `streams`.
    private var positions: [Int]

    init() {
        self.ids = Array(repeating: 0, count: 64)
        self.positions = Array(repeating: 0, count: 64)
    }

    var count: Int { self.streams.count }

    subscript(position: Int) -> Stream {
        get { self.streams[position] }
        set { self.streams[position] = newValue }
        _modify { yield &self.streams[position] }
    }

    /// Where the stream lies until the next removal; `nil` if it is not open.
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

    /// All open streams, in the order in which they were opened.
    mutating func removeAll() -> [Stream] {
        let all = self.streams.sorted { $0.id < $1.id }
        self = Self()
        return all
    }

    // MARK: Hash table

    private var mask: Int { self.ids.count - 1 }

    /// Multiplication by the golden ratio spreads neighbours.
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

    /// Frees a place and moves back those after it that are not where they want to be.
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
