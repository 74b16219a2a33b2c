package import PushTypes

/// The throw-away material of reference section 8.
package enum Vectors {
    package static let tokenA = "302bd38cc16adf6c9383e8848b91d895afccb2a5a5d1d52435f14c470aa71767"
    package static let tokenC =
        "dce4b1b3972cf8a03c9ecef259bf37756b1be2c2ff8c1cf0c0c87bd8cca464a3707db6a7c96b4f4279e21ceada6d37d8ffa610223ab7"
    package static let bundleID = "com.example.MyApp"
    /// SHA-1 of ``bundleID`` (section 11).
    package static let topicHash = "71c1d2341ef04f940b7100b6935ac99f8a5ff3f6"
    /// Payload P, 22 bytes.
    package static let payload = #"{"aps":{"alert":"Hi"}}"#

    package static let teamID = "DEF123GHIJ"
    package static let keyID = "ABC123DEFG"
    package static let issuedAt = Timestamp(seconds: 1_700_000_000)
    package static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCdc3nwI/eBRIVJ4G
        KKGcRmaSRV3UF5dJBBx0weiQKCqhRANCAASDS5bDOgTGTMcSsw8hYNUEn89SNhOo
        pYB21oMcVbGvUAbFXZKjhDxRaQ52g4RrZJheIqTg9s1j89TdyvFLdhDJ
        -----END PRIVATE KEY-----
        """
    package static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEg0uWwzoExkzHErMPIWDVBJ/PUjYT
        qKWAdtaDHFWxr1AGxV2So4Q8UWkOdoOEa2SYXiKk4PbNY/PU3crxS3YQyQ==
        -----END PUBLIC KEY-----
        """
    private static let signingInput =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAwfQ"
    /// 8.1, 1a: raw signature.
    package static let providerToken =
        signingInput + ".5QoIeNoCDJtmpyo-oAZDqmTBbfVMLmAsEl6XWoAELJt85xqRtWQUOs8WCGvDxakunc7yQSrKFKgLk9xULzv9Fw"
    /// 8.1, 1b: DER signature.
    package static let providerTokenDER =
        signingInput
        + ".MEUCIQDlCgh42gIMm2anKj6gBkOqZMFt9UwuYCwSXpdagAQsmwIgfOcakbVkFDrPFghrw8WpLp3O8kEqyhSoC5PcVC87_Rc"
    /// 8.1, 1c: a claim was changed after signing.
    package static let providerTokenForged =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAxfQ"
        + ".5QoIeNoCDJtmpyo-oAZDqmTBbfVMLmAsEl6XWoAELJt85xqRtWQUOs8WCGvDxakunc7yQSrKFKgLk9xULzv9Fw"
}
