/// Encodes a ``PushTrip`` as a single integer: the id of its connection, and the milliseconds until the outcome.
enum StoredTrip {
    private static let bits: Int64 = 17
    private static let most: Int64 = 1 << StoredTrip.bits - 1

    /// Returns the integer for a connection and a time. A time of 131 s or more is encoded as unknown.
    /// - Parameter connection: The id of the connection, or 0 for none.
    static func number(connection: Int64, milliseconds: Int32) -> Int64 {
        connection << Self.bits | min(max(0, Int64(milliseconds)), Self.most)
    }

    /// Decodes an integer into the connection's id, which is 0 for none, and the time, which is `nil` if it is unknown.
    static func parts(_ number: Int64) -> (connection: Int64, milliseconds: Int?) {
        let time = number & Self.most
        return (number >> Self.bits, time == Self.most ? nil : Int(time))
    }
}
