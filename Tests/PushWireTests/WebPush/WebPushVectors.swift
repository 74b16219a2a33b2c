import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// The examples of RFC 8291 and 8292, and a set of our own that a second implementation has made.
enum WebPushVectors {
    /// The material of one message.
    struct Message: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let plaintext, agentPublic, secret, salt, senderPrivate, body: String
    }

    static let messages = [
        Message(
            testDescription: "RFC 8291 section 5",
            plaintext: "When I grow up, I want to be a watermelon",
            agentPublic: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            secret: "BTBZMqHH6r4Tts7J_aSIgg",
            salt: "DGv6ra1nlYgDCS1FRnbzlw",
            senderPrivate: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
            body: """
                DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_\
                yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
                """
        ),
        Message(
            testDescription: "a second implementation",
            plaintext: #"{"title":"Hi"}"#,
            agentPublic: "BBaJA-7y0k_mSTSRGtCcLtb1EVfJ6cDUVBZPgzXGW0mHxODHePlBf_CSOfIYdCq36rnYgypO_8L8Gtx-KQySuWs",
            secret: "vfScPDiCEC_AF_-2YRCMYw",
            salt: "Y0ea1poJCyWCd-yPum-ZQQ",
            senderPrivate: "9L-ff8vtq6A5LxCMWdj0o4s4OO-2SHc4AXG1RHXCrek",
            body: """
                Y0ea1poJCyWCd-yPum-ZQQAAEABBBDr8mepk1PQLrIuXucOaywmFX0knagpiP78QW8XGCs0J2aSb2-_dAXVSdVoGNBOul4t1tshVCUE1mpVkb2akNPK\
                CXiLZKKm_elR7HME9hUIMA6ppsNanyokl2b3WnbWN
                """
        ),
    ]

    /// RFC 8292 section 2.4; it expires at 1453523768.
    static let rfcAuthorization = """
        vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1\
        YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHz\
        voD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs
        """
    private static let ownKey =
        "BINLlsM6BMZMxxKzDyFg1QSfz1I2E6ilgHbWgxxVsa9QBsVdkqOEPFFpDnaDhGtkmF4ipOD2zWPz1N3K8Ut2EMk"
    /// It expires at 1700043200, 12 hours after ``Vectors/issuedAt``.
    static let ownAuthorization = """
        vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5vcmciLCJleHAiOjE3MDAwNDMyMDAsInN1\
        YiI6Im1haWx0bzpvcHNAZXhhbXBsZS5vcmcifQ.OKYzHzf4nle27rxmIv0DJTKnDarelxqQasjDJZSyrxRhs_h8ehExZcuaLeUhyiLBVBmnvbJXOR3gA0oF\
        1makPg, k=\(ownKey)
        """
    /// It expires a second more than 24 hours after ``Vectors/issuedAt``.
    static let longAuthorization = """
        vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5vcmciLCJleHAiOjE3MDAwODY0MDEsInN1\
        YiI6Im1haWx0bzpvcHNAZXhhbXBsZS5vcmcifQ.GBQ9qLvINx9iiAhCzEpX2OlavLCKQL2XQxA06IlqYWt_Mapfw8E1KVzC9ut3Ta-jDsc0i35JlNsCil7f\
        -kRPxg, k=\(ownKey)
        """

    /// Returns the bytes of base64url; empty for text that has none, which no vector is.
    static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text).map(Array.init) ?? [] }
}
