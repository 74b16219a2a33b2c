import NIOCore
import PushHTTP
import Testing

/// The networks by which clients without credentials are told apart.
@Suite struct SocketAddressNetworkTests {
    @Test func anAddressOrThePrefixOfACustomer() throws {
        #expect(try SocketAddress(ipAddress: "192.0.2.7", port: 99).network == [192, 0, 2, 7])
        let address = try SocketAddress(ipAddress: "2001:db8:1:2:3:4:5:6", port: 99)
        #expect(address.network == [0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2])
        #expect(try SocketAddress(ipAddress: "::ffff:192.0.2.7", port: 99).network == [192, 0, 2, 7])
    }
}
