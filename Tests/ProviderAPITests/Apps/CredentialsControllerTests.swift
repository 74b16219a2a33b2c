import PushSupport
import PushTesting
import Testing

/// A `.p12` as the credential of an app.
@Suite(.timeLimit(.patience)) struct CredentialsControllerTests {
    static let path = "/v1/apps/\(Vectors.bundleID)/credentials/production"

    /// Made with `openssl req -x509 -newkey ec` and `openssl pkcs12 -export`; its passphrase is "martlet".
    static let archive = """
        MIIEjAIBAzCCBEIGCSqGSIb3DQEHAaCCBDMEggQvMIIEKzCCAuIGCSqGSIb3DQEHBqCCAtMwggLPAgEAMIICyAYJKoZIhvcNAQcBMFcGCSqGSIb3\
        DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhYoxCv/a521AICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAdudUi4sZmHxwWqj0BkxlOAggJg\
        coDwqC9IuI6N4u8/r8WSYqfnSy+RUxCcLMxlMGReiGfBEBr5FU6XO7ooiY2LRxIc+EXzXDl4GtQSgExBbpFERtW1b/PmcUbRNKvHgsTMfuhBvnTj\
        /vGsGiKt+aTihloUEFXuY0uotOemHmHl+MrohN4+jPQb9moC81Gl/ULutSjujxoITnMn2YVuU0I8cLtGz2PQxaiWNBlY4RURLhipr5ySdig10dnP\
        f+uwIuIc3Fkb0eJzTXjpSR8FgskyGbe9kzmzAD18WCAeiNyji/Vlb9nEvPZsNjDsKpASnQtywEfQl7Dugns7JUSgnnEExQYJDa3/sJdTl2TgUpUg\
        l+gBAmGUirmneGzEtXi1kbzE13Ow2M9ncmDpR6IKZ5usDvCjpkFJyW0C8Lq6PrcT3So3j0tNALQOrIIs42cwqSJvCGPmM203f3U7e/JpbXWECY84\
        OAKLLdjTxWkFX/DbLb/Nxc2ZtXjm1SBnCvGniE5ZTV492Muo4v3GNsYKq3lAQ4oEvLjFz5evVYGCmv6QgKQKKWbqOCim1uzjilkcE8VLe5q/LX9J\
        1ecPIVmzbXkaalVn8+Y5JUKGARpYCManIFkYCq8oM9i+Sp1FWrAs77zCLLUojJdUiSbM/XjCg92AkawU/Ja7Db2ENa9ayamPKvDD3/FeIYfifGOW\
        8Rw28xWlAliILKGu+G5gt0wOVhj1z8FeWi3IGxetbCzDeuE/8+iywul8mYThb1jS7/zDXx0YJjrpISjsIDD2UiTkJ/QLFjfaq1mO9fj/jOpAEl3y\
        d7UV/+LzP9b3Sb2c6zCYqasK2l8wggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0w\
        SjApBgkqhkiG9w0BBQwwHAQImiJ064eCGAMCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBBHa2zQUav+44H99IoqOjkQBIGQZWxMO4+t\
        EGhq3g7qRIOFM1WCku8HmWPkvGx6s2m/5cTZmGfdnOqiwdw4iYk0RQcdNAVfZi60h7zKbo9gLkt1E6uIxTKMDqMkw8kV2T0V7UTycKG3Qn+N6txA\
        y5XxucZa85csk7s9G0p+QEn9iddNYK2SY8c2IfnsJEyjynANoXNyKOmncQk6EA7Vqp4L2ARAMSUwIwYJKoZIhvcNAQkVMRYEFISSlaNQoryXu91Y\
        zwaxT4qKwjjyMEEwMTANBglghkgBZQMEAgEFAAQgV//GXvIZAVXgczfA/J3/nfhOpT/Co5rY9e2+r9r7I94ECGrhlHrh40djAgIIAA==
        """

    @Test(arguments: ["Martlet", "martlet ", nil]) func aWrongPassphraseIsRejectedByItsName(passphrase: String?)
        async throws
    {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            var body: [String: JSONValue] = ["p12": .string(Self.archive)]
            body["passphrase"] = passphrase.map { .string($0) }
            let response = try await provider.api.put(Self.path, .object(body))
            #expect(response.status == 400)
            #expect(response.code == "wrong_passphrase")
            #expect(response.field == "passphrase")
            #expect(try await provider.api.get("/v1/apps/\(Vectors.bundleID)/credentials").json["credentials"] == [])
        }
    }

    @Test func aKeyHasNoMembersOfACertificate() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            var body: [String: JSONValue] = [
                "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID),
                "privateKey": .string(Vectors.privateKey),
            ]
            for name in ["passphrase", "transport"] {
                let response = try await provider.api.put(Self.path, .object(body.merging([name: .null]) { $1 }))
                #expect(response.status == 400 && response.field == name, "a null of \(name)")
            }
            #expect(try await provider.api.put(Self.path, .object(body)).status == 200)
            body = ["p12": .string(Self.archive), "passphrase": "martlet", "transport": .null]
            #expect(try await provider.api.put(Self.path, .object(body)).status == 200)
        }
    }

    @Test func theRightPassphraseOpensIt() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            let body: JSONValue = ["p12": .string(Self.archive), "passphrase": "martlet"]
            #expect(try await provider.api.put(Self.path, body).status == 200)
        }
    }
}
