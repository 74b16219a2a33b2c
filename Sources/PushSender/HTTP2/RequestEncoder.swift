import NIOCore
import PushTypes
import PushWire

/// Encodes the header blocks of push requests by the rules that Apple gives (reference 1.3): what changes with every
/// request is a literal, everything else stands in the service's table after its first use.
///
/// What all pushes of one topic, push type and priority share is prepared once, as a ``RequestHeaderTemplate``.
struct RequestEncoder {
    /// What we use of the service's table at most, in bytes, even if it offers more.
    static let maximumTableSize = HTTP2Constants.headerTableSize
    /// Lanes kept; when there are more they are made anew.
    private static let maximumLanes = 256

    private static let devicePath = Array(RequestHeaderTemplate.devicePath.utf8)

    private let authority: String
    /// The whole field `authorization`, or empty with certificate trust.
    private var authorization: [UInt8] = []
    private var table = RequestHeaderTable(limit: Self.maximumTableSize)
    private var lanes: [RequestHeaderTemplate.Key: RequestHeaderTemplate] = [:]
    private var lastLane: RequestHeaderTemplate?

    /// - Parameter authority: host name, with the port where it is not 443.
    init(authority: String) {
        self.authority = authority
    }

    /// The provider token of all requests from now on; `nil` with certificate trust.
    mutating func setProviderToken(_ token: String?) {
        self.authorization = []
        guard let token else { return }
        self.authorization.appendInteger(23, prefix: 4, pattern: 0)
        self.authorization.appendString("bearer \(token)")
    }

    /// The service's setting `HEADER_TABLE_SIZE`.
    mutating func setTableSize(_ size: Int) {
        self.table.reset(limit: min(size, Self.maximumTableSize))
    }

    /// An upper bound of the request's header list, in bytes as RFC 9113 section 6.5.2 counts them.
    func headerListSize(of push: Push) -> Int {
        let notification = push.notification
        var size = Self.fixedSize + self.authority.utf8.count + self.authorization.count
        size += push.token.bytes.count * 2 + notification.topic.name.utf8.count + notification.id.utf8.count
        if let collapseID = notification.collapseID { size += collapseID.utf8.count }
        for header in push.additionalHeaders { size += header.name.utf8.count + header.value.utf8.count + 32 }
        return size
    }

    /// Names, overhead and short values of all fields together.
    private static let fixedSize = 520

    /// Appends the header block of `push`.
    mutating func encode(_ push: Push, into buffer: inout ByteBuffer) {
        let notification = push.notification
        guard push.additionalHeaders.isEmpty, let lane = self.lane(for: notification) else {
            return self.encodeField(by: push, into: &buffer)
        }
        let lacksExpiration = notification.expiration != .servicePolicy && lane.expirationName == nil
        let lacksCollapseID = notification.collapseID != nil && lane.collapseIDName == nil
        if lacksExpiration || lacksCollapseID { return self.encodeField(by: push, into: &buffer) }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: self.headerListSize(of: push)) { target in
            var block = HeaderBlockWriter(target)
            block.write(lane.head)
            block.write(length: RequestHeaderTemplate.devicePath.utf8.count + push.token.bytes.count * 2)
            block.write(Self.devicePath)
            block.write(hexadecimal: push.token.bytes)
            block.write(self.authorization)
            block.write(lane.idName)
            block.write(string: notification.id)
            block.write(lane.pushType)
            if let name = lane.expirationName, let expiration = notification.expiration.header {
                block.write(name)
                block.write(string: expiration)
            }
            block.write(lane.tail)
            if let name = lane.collapseIDName, let collapseID = notification.collapseID {
                block.write(name)
                block.write(string: collapseID)
            }
            return block.count
        }
    }

    // MARK: Lanes

    /// `nil` while something of it is not in the table yet.
    private mutating func lane(for notification: PushNotification) -> RequestHeaderTemplate? {
        guard !self.table.hasPendingResize else { return nil }
        if let lane = self.lastLane, lane.generation == self.table.generation, lane.key.matches(notification) {
            return lane
        }
        let key = RequestHeaderTemplate.Key(notification)
        if let lane = self.lanes[key], lane.generation == self.table.generation {
            self.lastLane = lane
            return lane
        }
        if self.lanes.count >= Self.maximumLanes { self.lanes = [:] }
        let lane = RequestHeaderTemplate(key: key, authority: self.authority, table: self.table)
        self.lanes[key] = lane
        self.lastLane = lane
        return lane
    }

    // MARK: The first time

    /// Writes one field after the other, and puts into the table what belongs there.
    private mutating func encodeField(by push: Push, into buffer: inout ByteBuffer) {
        let notification = push.notification
        let replaced = Set(push.additionalHeaders.map(\.name))
        var block = self.table.takeResize()
        block += RequestHeaderTemplate.methodAndScheme
        block += self.repeated(RequestHeaderTemplate.authority, self.authority)
        block.append(RequestHeaderTemplate.pathName)
        block.appendString(RequestHeaderTemplate.devicePath + push.token.hex)
        buffer.writeBytes(block)
        if !replaced.contains("authorization") { buffer.writeBytes(self.authorization) }
        var rest: [UInt8] = []
        func add(_ name: String, _ value: String?, _ write: (String, String) -> [UInt8]) {
            if let value, !replaced.contains(name) { rest += write(name, value) }
        }
        add("apns-id", notification.id) { self.named($0, $1) }
        add("apns-push-type", notification.pushType?.rawValue) { self.repeated($0, $1) }
        add("apns-expiration", notification.expiration.header) { self.named($0, $1) }
        add("apns-priority", String(notification.priority.rawValue)) { self.repeated($0, $1) }
        add("apns-topic", notification.topic.name) { self.repeated($0, $1) }
        add("apns-collapse-id", notification.collapseID) { self.named($0, $1) }
        for header in push.additionalHeaders {
            rest.append(0)
            rest.appendString(header.name)
            rest.appendString(header.value)
        }
        buffer.writeBytes(rest)
    }

    /// A field whose value comes again: from the table, or into it.
    private mutating func repeated(_ name: String, _ value: String) -> [UInt8] {
        if self.table.position(of: name, value) == nil, self.table.hasRoom(for: name, value) {
            return self.inserted(name, value)
        }
        return RequestHeaderTemplate.field(name, value, in: self.table)
    }

    /// A field whose name comes again, with another value: only the first one goes into the table.
    private mutating func named(_ name: String, _ value: String) -> [UInt8] {
        if self.table.position(of: name) == nil, self.table.hasRoom(for: name, value) {
            return self.inserted(name, value)
        }
        var bytes = RequestHeaderTemplate.name(name, in: self.table)
        bytes.appendString(value)
        return bytes
    }

    private mutating func inserted(_ name: String, _ value: String) -> [UInt8] {
        var bytes: [UInt8] = []
        if let position = RequestHeaderTemplate.staticPosition(of: name) ?? self.table.position(of: name) {
            bytes.appendInteger(position, prefix: 6, pattern: 0x40)
        } else {
            bytes.append(0x40)
            bytes.appendString(name)
        }
        bytes.appendString(value)
        self.table.insert(name, value)
        return bytes
    }
}
