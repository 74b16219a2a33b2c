import Foundation
import NIOCore
import PushTypes

/// The encoding of many events as one blob, so that one row replaces a thousand.
///
/// The fields of an event, with their bytes: name (1), environment (1; 0 for none), time (8, milliseconds), device
/// (16), topic (2 + n), apns-id (1 + n). A length of 0 stands for `nil`. Ids are consecutive from the block's first.
enum EventBlockCoding {
    /// The most events in one block.
    static let capacity = 1024

    static func encode(_ events: ArraySlice<Event>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(events.count * 96)
        for event in events {
            buffer.writeMultipleIntegers(event.name.rawValue, event.environment?.code ?? 0, event.time.milliseconds)
            withUnsafeBytes(of: event.device.uuid) { _ = buffer.writeBytes($0) }
            let topic = event.topic?.utf8.prefix(Int(UInt16.max))
            buffer.writeInteger(UInt16(topic?.count ?? 0))
            if let topic { buffer.writeBytes(topic) }
            let apnsID = event.apnsID?.utf8.prefix(Int(UInt8.max))
            buffer.writeInteger(UInt8(apnsID?.count ?? 0))
            if let apnsID { buffer.writeBytes(apnsID) }
        }
        return buffer
    }

    /// Returns the events up to the first that cannot be read.
    static func decode(_ blob: Data, firstID: Int64) -> [Event] {
        var buffer = ByteBuffer(bytes: blob)
        var events: [Event] = []
        while let event = Self.read(&buffer, id: firstID &+ Int64(events.count)) { events.append(event) }
        return events
    }

    private static func read(_ buffer: inout ByteBuffer, id: Int64) -> Event? {
        guard let head = buffer.readMultipleIntegers(as: (UInt8, UInt8, Int64).self),
            let name = Event.Name(rawValue: head.0),
            let device = buffer.readSlice(length: 16).flatMap(Self.uuid),
            let topic = buffer.readLengthPrefixedSlice(as: UInt16.self),
            let apnsID = buffer.readLengthPrefixedSlice(as: UInt8.self)
        else { return nil }
        var event = Event(
            name,
            device: device,
            time: Timestamp(milliseconds: head.2),
            environment: PushEnvironment(code: head.1)
        )
        event.id = id
        if topic.readableBytes > 0 { event.topic = String(buffer: topic) }
        if apnsID.readableBytes > 0 { event.apnsID = String(buffer: apnsID) }
        return event
    }

    private static func uuid(_ bytes: ByteBuffer) -> UUID? {
        bytes.withUnsafeReadableBytes { $0.count == 16 ? UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) : nil }
    }
}
