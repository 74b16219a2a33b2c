import Foundation
import PushDevice
import PushTesting
import Testing

/// An identity in its file.
@Suite struct DeviceIdentityTests {
    @Test(arguments: [nil, [1, 2, 3]] as [[UInt8]?]) func anIdentitySurvivesItsFile(baseToken: [UInt8]?) throws {
        let certificate = try SelfSignedCertificate.shared.get()
        let identity = DeviceIdentity(
            deviceID: "test",
            certificate: certificate.pem,
            privateKey: certificate.key,
            serviceAuthority: certificate.pem,
            baseToken: baseToken
        )
        let data = try JSONEncoder().encode(identity)
        #expect(try JSONDecoder().decode(DeviceIdentity.self, from: data) == identity)
    }
}
