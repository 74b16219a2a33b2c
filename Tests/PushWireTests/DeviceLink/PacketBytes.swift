import NIOCore
import PushWire

/// Returns the bytes of packets that follow each other.
func bytes(_ packets: DeviceLinkPacket...) -> ByteBuffer {
    var buffer = ByteBuffer()
    for packet in packets { packet.write(to: &buffer) }
    return buffer
}
