import Foundation
package import PushDevice
import PushSupport

/// A throw-away key of a device and its signing request.
package enum DeviceVectors {
    package static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzlV8XBnm50ESKea0
        ZkZgkW6iWuVzSx7em7R3jdxHQoShRANCAAQuYyKGztxfSLeuphjlv1lEAcTy54Si
        jNVo6XKahk2/9lrHGUdV8mEdREDPhmbf5hubrzO7hL0/JDdqsSaa5sSD
        -----END PRIVATE KEY-----
        """
    package static let signingRequest = """
        -----BEGIN CERTIFICATE REQUEST-----
        MIHLMHMCAQAwETEPMA0GA1UEAwwGZGV2aWNlMFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAELmMihs7cX0i3rqYY5b9ZRAHE8ueEoozVaOlymoZNv/ZaxxlHVfJhHURA
        z4Zm3+Ybm68zu4S9PyQ3arEmmubEg6AAMAoGCCqGSM49BAMCA0gAMEUCIQCqRONm
        GntRH74Bb+QyN6vsfgXElHxOA5deUBvs+Vkt9QIgVY6Zx+7vcO0cSnyVB7w3/2Fw
        69jlHKOPhCu0ILlqdus=
        -----END CERTIFICATE REQUEST-----
        """

    /// The device that an activation with ``signingRequest`` made.
    package static func identity(_ answer: JSONClient.Response) -> DeviceIdentity {
        DeviceIdentity(
            deviceID: answer.json["deviceId"].stringValue ?? "",
            certificate: answer.json["certificate"].stringValue ?? "",
            privateKey: Self.privateKey,
            serviceAuthority: answer.json["authority"].stringValue ?? ""
        )
    }
}
