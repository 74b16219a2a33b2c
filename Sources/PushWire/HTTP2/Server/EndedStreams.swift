/// The newest streams that a server ended while the client had not, whose frames may still come.
///
/// It is a ring in a plain array: adding a stream to a full one writes one element, whatever the build.
struct EndedStreams {
    /// The streams, in a ring once there are as many as are remembered.
    private(set) var ids: [UInt32] = []
    /// The position of the oldest stream of a full ring.
    private var oldest = 0

    /// Adds a stream, in the place of the oldest one if there are too many.
    mutating func insert(_ id: UInt32) {
        guard self.ids.count >= HTTP2ServerLimits.maximumEndedStreams else { return self.ids.append(id) }
        self.ids[self.oldest] = id
        self.oldest = (self.oldest + 1) % self.ids.count
    }

    func contains(_ id: UInt32) -> Bool { self.ids.contains(id) }
}
