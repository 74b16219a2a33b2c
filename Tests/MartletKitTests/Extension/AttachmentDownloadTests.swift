import Foundation
import Testing

@testable import MartletKit

@Suite("Download of an attachment") struct AttachmentDownloadTests {
    static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 1, 2, 3])
    private static let url = "https://example.com/a"

    private func make(_ policy: AttachmentPolicy = .init(), type: String? = nil) throws -> AttachmentDownload {
        try AttachmentDownload(Self.url, type: type, policy: policy)
    }

    private func respond(
        _ download: inout AttachmentDownload,
        _ status: Int,
        _ headers: [String: String] = [:],
        length: Int64? = nil
    ) -> AttachmentDownload.OnResponse {
        download.responded(status: status, length: length) { headers[$0] }
    }

    @Test("A file of the declared type is taken, however it is cut into pieces")
    func taken() throws {
        for size in 1...Self.png.count {
            var download = try self.make(type: "image/png")
            #expect(self.respond(&download, 200, ["content-type": "image/png"], length: 15) == .receive)
            var rest = Self.png
            while !rest.isEmpty {
                #expect(download.received(rest.prefix(size)) == .write)
                rest = rest.dropFirst(size)
            }
            #expect(try download.finished() == .png)
        }
    }

    @Test(
        "The member is a URL, or an object of a URL and a type",
        arguments: [
            #""https://example.com/a""#, #"{"url":"https://example.com/a"}"#,
            #"{"url":"https://example.com/a","type":"image/png"}"#, #"{"url":"https://example.com/a","type":null}"#,
        ]
    )
    func members(text: String) throws {
        let member = try #require(JSONValue(json: Data(text.utf8)))
        #expect(try AttachmentDownload(member, policy: .init()).url.url.absoluteString == Self.url)
    }

    @Test(
        "Another member is refused",
        arguments: [
            ("7", AttachmentError.malformedMember), ("[]", .malformedMember), ("{}", .malformedMember),
            (#"{"url":7}"#, .malformedMember), (#"{"url":"https://example.com/","name":"../../x"}"#, .malformedMember),
            (#"{"url":"https://example.com/","type":7}"#, .malformedMember),
            (#"{"url":"https://example.com/","type":"text/html"}"#, .typeNotAllowed),
            (#""file:///etc/passwd""#, .notHTTPS), (#""https://localhost/""#, .localAddress),
        ]
    )
    func otherMembers(text: String, failure: AttachmentError) throws {
        let member = try #require(JSONValue(json: Data(text.utf8)))
        #expect(throws: failure) { try AttachmentDownload(member, policy: .init()) }
    }

    @Test(
        "A response of another status or type is refused",
        arguments: [
            (404, "image/png" as String?, AttachmentError.status(404)), (206, "image/png", .status(206)),
            (204, "image/png", .status(204)), (300, "image/png", .status(300)), (304, "image/png", .status(304)),
            (200, nil, .typeNotAllowed), (200, "", .typeNotAllowed), (200, "text/html", .typeNotAllowed),
            (200, "application/octet-stream", .typeNotAllowed), (200, "image/svg+xml", .typeNotAllowed),
            (200, "image/png2", .typeNotAllowed), (200, "video/mp4", .typeNotAllowed),
        ]
    )
    func refusedResponses(status: Int, type: String?, failure: AttachmentError) throws {
        var download = try self.make(AttachmentPolicy(types: [.png, .jpeg]))
        let headers = type.map { ["content-type": $0] } ?? [:]
        #expect(self.respond(&download, status, headers) == .fail(failure))
        #expect(throws: failure) { try download.finished() }
        // Whatever comes later changes nothing.
        #expect(download.received(Self.png) == .fail(failure))
        #expect(self.respond(&download, 200, ["content-type": "image/png"]) == .fail(failure))
    }

    @Test("The type that the payload declares must be the server's")
    func declaredTypes() throws {
        var download = try self.make(type: "image/jpeg")
        #expect(self.respond(&download, 200, ["content-type": "image/png"]) == .fail(.typeMismatch))
    }

    @Test("A file whose first bytes are not of the declared type is refused at once")
    func otherBytes() throws {
        for hostile in ["<!DOCTYPE html>", "#!/bin/sh\necho x", "PK\u{3}\u{4}xxxxxxxxxxxx", "GIF89axxxxxxxxx"] {
            var download = try self.make()
            #expect(self.respond(&download, 200, ["content-type": "image/png"]) == .receive)
            #expect(download.received(Data(hostile.utf8)) == .fail(.typeMismatch))
            #expect(throws: AttachmentError.typeMismatch) { try download.finished() }
        }
        for short in [Data(), Self.png.prefix(7)] {
            var download = try self.make()
            #expect(self.respond(&download, 200, ["content-type": "image/png"]) == .receive)
            _ = download.received(short)
            #expect(throws: AttachmentError.typeMismatch) { try download.finished() }
        }
    }

    @Test("A file is refused when it becomes too large, and before that if its size is announced")
    func sizes() throws {
        let policy = AttachmentPolicy(maximumSize: 20)
        var download = try self.make(policy)
        #expect(self.respond(&download, 200, ["content-type": "image/png"], length: 21) == .fail(.tooLarge))
        download = try self.make(policy)
        #expect(self.respond(&download, 200, ["content-type": "image/png"], length: .max) == .fail(.tooLarge))
        download = try self.make(policy)
        // A size that lies counts as little as none.
        #expect(self.respond(&download, 200, ["content-type": "image/png"], length: 3) == .receive)
        #expect(download.received(Self.png) == .write)
        #expect(download.received(Data(count: 5)) == .write)
        #expect(download.received(Data()) == .write)
        #expect(download.received(Data(count: 1)) == .fail(.tooLarge))
        #expect(throws: AttachmentError.tooLarge) { try download.finished() }
    }

    @Test("Redirects are followed to https, up to the limit", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) throws {
        var download = try self.make()
        for location in ["/b?c", "https://cdn.example.net/d", "//other.example/e"] {
            let expected = try #require(URL(string: location, relativeTo: download.url.url)?.absoluteURL)
            #expect(self.respond(&download, status, ["location": location]) == .follow(expected))
        }
        #expect(self.respond(&download, status, ["location": "/f"]) == .fail(.tooManyRedirects))
    }

    @Test(
        "Redirects elsewhere are refused",
        arguments: [
            ("http://example.com/", AttachmentError.notHTTPS), ("file:///etc/passwd", .notHTTPS),
            ("data:image/png;base64,AAAA", .notHTTPS), ("javascript:alert(1)", .notHTTPS),
            ("//127.0.0.1/", .localAddress),
            ("https://169.254.169.254/latest", .localAddress), ("https://[::1]/", .localAddress),
            ("//user@example.com/", .malformedURL), ("https://127.1/", .malformedURL), ("\u{0}", .malformedURL),
            ("/a b", .malformedURL), ("\\\\127.0.0.1\\x", .malformedURL), ("/\r\nx: y", .malformedURL),
        ]
    )
    func hostileRedirects(location: String, failure: AttachmentError) throws {
        var download = try self.make()
        #expect(self.respond(&download, 302, ["location": location]) == .fail(failure))
    }

    @Test("A redirect without a location, and one of a policy without redirects")
    func noRedirects() throws {
        var download = try self.make()
        #expect(self.respond(&download, 302) == .fail(.status(302)))
        download = try self.make(AttachmentPolicy(maximumRedirects: 0))
        #expect(self.respond(&download, 302, ["location": "/b"]) == .fail(.tooManyRedirects))
    }

    @Test("Each type has its signature, and no other")
    func signatures() {
        let starts: [AttachmentType: [String]] = [
            .jpeg: ["ffd8ffe000104a4649460001"], .png: ["89504e470d0a1a0a0000000d"],
            .gif: ["474946383961010001000000", "474946383761010001000000"],
            .aiff: ["464f524d0000000041494646", "464f524d0000000041494643"], .wav: ["524946460000000057415645"],
            .mp3: ["494433040000000000000000", "fffb90640000000000000000"], .m4a: ["00000018667479704d344120"],
            .mpeg: ["000001ba4400040004010000", "000001b31400f01300000000"], .mp4: ["000000186674797069736f6d"],
            .avi: ["524946460000000041564920"],
        ]
        for (type, starts) in starts {
            for start in starts {
                let bytes = stride(from: 0, to: start.utf8.count, by: 2).compactMap { position in
                    UInt8(start.dropFirst(position).prefix(2), radix: 16)
                }
                #expect(bytes.count == AttachmentType.signatureLength)
                let matching = AttachmentType.allCases.filter { $0.matches(bytes) }
                // Sound and film in MPEG-4 begin alike.
                #expect(Set(matching) == ([.mp4, .m4a].contains(type) ? [.mp4, .m4a] : [type]))
            }
        }
        #expect(AttachmentType.allCases.allSatisfy { !$0.matches([]) && !$0.matches([0xff]) })
        #expect(AttachmentType.allCases.allSatisfy { $0.fileExtension.utf8.allSatisfy(\.isName) })
    }
}
