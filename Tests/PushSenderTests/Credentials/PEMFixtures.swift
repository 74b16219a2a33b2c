// Made by Fixtures/make; do not edit.

/// Certificates and keys for tests, made with OpenSSL. The passphrase is "martlet".
enum PEMFixtures {
    static let universalCertificate = """
        -----BEGIN CERTIFICATE-----
        MIID+zCCAuOgAwIBAgIULKCNOkKNmucuym0rqc55bonHNaIwDQYJKoZIhvcNAQEL
        BQAwVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQD
        DCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDAgFw0yNjEx
        MjEwNzU5NThaGA8yMTI2MTAyODA3NTk1OFowVDEhMB8GCgmSJomT8ixkAQEMEWNv
        bS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBj
        b20uZXhhbXBsZS5NeUFwcDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEB
        ALeLoD8p93HYaWID3c+ptfPuKoUtR+HIc6WvH0XGbohFLNy9Qf+ELCknnUayqkf4
        7ZhTsEP7wVy7oTiOM0Exu9LckSpceMk34bIHqKkn1YhDE31MAlEVRapaY65LmIQL
        hrZfv0wu3gQgHNNQVKCsR580x3jWO9FA8Uh8kY5DKCKSwP74QQ8fhNTrfOdoCDoi
        9dId+dG9xhpqS+u5G2n0g0H0FV1p1pgkZQSZo+RD0dfo+cM4UG6xxmKpZqZ5YHii
        tjLx9GD7NvAZAFL9rv2Blz0dCDDJT6T1Q1F1v2yYG7Lyxfn7bMVbtGhx5w8hZDwq
        kabMIbtIfzKFkWqEI9x9pE0CAwEAAaOBwjCBvzAQBgoqhkiG92NkBgMBBAIFADAQ
        BgoqhkiG92NkBgMCBAIFADB6BgoqhkiG92NkBgMGBGwwagwRY29tLmV4YW1wbGUu
        TXlBcHAwBQwDYXBwDBZjb20uZXhhbXBsZS5NeUFwcC52b2lwMAYMBHZvaXAMHmNv
        bS5leGFtcGxlLk15QXBwLmNvbXBsaWNhdGlvbjAODAxjb21wbGljYXRpb24wHQYD
        VR0OBBYEFNxgjcglxpJjA25mkzV5Fvs+1FGhMA0GCSqGSIb3DQEBCwUAA4IBAQAC
        qYTERoNGXlf+v9cDGOJAJLjQVRvwz0JQcU9FNWV2aIeOvwdbof1BvRFZZuSR8xQo
        Z6JVUGb0s1h3dV1iZg5LO37KaKCUeUqoZSOCi/Ea9lSphS9IXCmSeGj/BPVaz3uY
        kJCwUjdyb/yPe/gAChcyJd9qZyd+U3oLvYF9HdpfGoYL7QuzE1uUYmWiy2abuxnR
        7tyed22PK1NOkrXgU3d80TFGNN7k19H2HLLPQ9GIQf29mcvN94BMtOp0ZLPlMx7e
        uXs+odgvlT2EDz5fQFLcrTU33WaPa/zh1a+QMyDGpCQMtdA84pHOvU5CMMK6y/g6
        k4bAMFNzjyBE4j4Cx7JP
        -----END CERTIFICATE-----
        """
    static let sandboxCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIB3zCCAYWgAwIBAgIUFkMSSCaTmDvxcHFyfRdEnJHTe+swCgYIKoZIzj0EAwIw
        VDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZB
        cHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDAgFw0yNjExMjEw
        NzU5NThaGA8yMTI2MTAyODA3NTk1OFowVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5l
        eGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20u
        ZXhhbXBsZS5NeUFwcDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBEekFtgrQhg
        Ht7aHK/JTHidUtIy8GhmZzqWnIVgPODU4cHg7gwEnFTB7rb5/CHim/1/XOUhN3Dw
        J8kXYkKyRb+jMzAxMBAGCiqGSIb3Y2QGAwEEAgUAMB0GA1UdDgQWBBQrRTP6mHSu
        Xxul1mffwljuAXKB+TAKBggqhkjOPQQDAgNIADBFAiA3+AFBWh5VkzFe4d25915Y
        VWVzWGJ0Av+NzSGJeklDAAIhAIuWVfN5YNv6Tzh76ttBAjgt0N63ha0bN3iC/Vo2
        zg1F
        -----END CERTIFICATE-----
        """
    static let productionCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIB3zCCAYWgAwIBAgIUKF3wJsMcBqyu4TuPWUzrhlzF0mEwCgYIKoZIzj0EAwIw
        VDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZB
        cHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDAgFw0yNjExMjEw
        NzU5NThaGA8yMTI2MTAyODA3NTk1OFowVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5l
        eGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20u
        ZXhhbXBsZS5NeUFwcDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBEekFtgrQhg
        Ht7aHK/JTHidUtIy8GhmZzqWnIVgPODU4cHg7gwEnFTB7rb5/CHim/1/XOUhN3Dw
        J8kXYkKyRb+jMzAxMBAGCiqGSIb3Y2QGAwIEAgUAMB0GA1UdDgQWBBQrRTP6mHSu
        Xxul1mffwljuAXKB+TAKBggqhkjOPQQDAgNIADBFAiAuAIlz4jGwm3Unwesdsmm7
        quoya6iT9k9MFBJmIMvauwIhAMQGxiEQrRoSOPXl+6xHtAtwPO1StFf9tFLk9gfG
        d2Y0
        -----END CERTIFICATE-----
        """
    static let plainCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBUDCB96ADAgECAhRCbjiSsh25xxRURIHd+KQRL1J+/zAKBggqhkjOPQQDAjAP
        MQ0wCwYDVQQDDAR0ZXN0MCAXDTI2MTEyMTA3NTk1OFoYDzIxMjYxMDI4MDc1OTU4
        WjAPMQ0wCwYDVQQDDAR0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEER6Q
        W2CtCGAe3tocr8lMeJ1S0jLwaGZnOpachWA84NThweDuDAScVMHutvn8IeKb/X9c
        5SE3cPAnyRdiQrJFv6MvMC0wDAYDVR0TAQH/BAIwADAdBgNVHQ4EFgQUK0Uz+ph0
        rl8bpdZn38JY7gFygfkwCgYIKoZIzj0EAwIDSAAwRQIhAJhtpqd9J4s1x2+Z2iT+
        NlAUMB+pJCbhekZVefTH6D5gAiA9toX5sMd95bv4U0nD0wU5LAko2+hwnC2n0EDu
        ZbxM9Q==
        -----END CERTIFICATE-----
        """
    static let authorityCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBZzCCAQ6gAwIBAgIUb6GDfOBDr9vlR/tEhK8TOF63eiswCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOVGVzdCBBdXRob3JpdHkwIBcNMjYxMTIxMDc1OTU4WhgPMjEy
        NjEwMjgwNzU5NThaMBkxFzAVBgNVBAMMDlRlc3QgQXV0aG9yaXR5MFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAEkq4YFEX/ATE8EFTgOuUs2gbVM0bk/5AR1fIkO/Uw
        3B4f2y9AaMgko0idn5Wz9X0Y4SFUTPx7wInh8uiOttsicqMyMDAwDwYDVR0TAQH/
        BAUwAwEB/zAdBgNVHQ4EFgQUFbvnsYJn/UYX9O3+1HKXMdAL0CMwCgYIKoZIzj0E
        AwIDRwAwRAIgcbH2ngMqSUvH5Dg0q7Vk5ZMv5Bu46CUZ8FwW1bgH8p4CIEIe180f
        mAtskOOb5n3l91o0HHWE+DDQGRmNrVmc9j+K
        -----END CERTIFICATE-----
        """
    static let leafCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBsTCCAVigAwIBAgIBBzAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5UZXN0IEF1
        dGhvcml0eTAgFw0yNjExMjEwNzU5NThaGA8yMTI2MTAyODA3NTk1OFowVDEhMB8G
        CgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQ
        dXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABBEekFtgrQhgHt7aHK/JTHidUtIy8GhmZzqWnIVgPODU4cHg7gwE
        nFTB7rb5/CHim/1/XOUhN3DwJ8kXYkKyRb+jVDBSMBAGCiqGSIb3Y2QGAwIEAgUA
        MB0GA1UdDgQWBBQrRTP6mHSuXxul1mffwljuAXKB+TAfBgNVHSMEGDAWgBQVu+ex
        gmf9Rhf07f7Ucpcx0AvQIzAKBggqhkjOPQQDAgNHADBEAiBoC+SmJ6Sz8l7DBwB3
        XZkQ507cCsiAJ8CVQZxPXN4qlwIgRzHcrkhA1ql8vYX33R2XmlLRv4nRq2VQS1DU
        AmSu73M=
        -----END CERTIFICATE-----
        """
    static let rsaKey = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAt4ugPyn3cdhpYgPdz6m18+4qhS1H4chzpa8fRcZuiEUs3L1B
        /4QsKSedRrKqR/jtmFOwQ/vBXLuhOI4zQTG70tyRKlx4yTfhsgeoqSfViEMTfUwC
        URVFqlpjrkuYhAuGtl+/TC7eBCAc01BUoKxHnzTHeNY70UDxSHyRjkMoIpLA/vhB
        Dx+E1Ot852gIOiL10h350b3GGmpL67kbafSDQfQVXWnWmCRlBJmj5EPR1+j5wzhQ
        brHGYqlmpnlgeKK2MvH0YPs28BkAUv2u/YGXPR0IMMlPpPVDUXW/bJgbsvLF+fts
        xVu0aHHnDyFkPCqRpswhu0h/MoWRaoQj3H2kTQIDAQABAoIBAFGSRieMOSJpcXxU
        B5Iw9GJyaIdDdnzLn0n1KErUQ29gfu2jVt9+GDo6FtXCtZbC9KUMHHw6ONdDtAT0
        fabtuXGfAQz4h921biK28KgsweOLG/BFhYoPkCSDg2WEx0V38ei/aL8s3RKsSuNH
        AjVeG36P8E6tt2vqFtGGOxIkmoOyPfoFh3eSMxkAWTpCt+0mJnPBTx6Ooj6/jVGg
        nfsnxGZlzYvdwPgjiL17CirLi+bghdcdBUmR37I+Ulpc/H1TDXj1HYY7qebpoxQc
        H76zAyZ8RbEsCMEKPDHwDkW3I9pVIFdakMg7Vp2m1fBYnVffVXn3Kzle9Q0q7Fz2
        NKXP3GkCgYEA/VnapcJ0ckfRiJ41grG0rQ5COs85iZ3HMwi8Anx7FRyit/qtQku9
        p+Q4cEamn7IQn5v4yux1uisLKT+KsfvkYn2cP9Zh5mqOMctSK95N6pc8FAQXR0LL
        AJpw6lJ6ovuoTgB3rz793oH46sRPKjbfWZ35BSqfGpaI1oUFMtWpT0cCgYEAuXbs
        RHfYPnzUCpaLZfrruuMvltxs63Q8eLvFW8Ojlo7XcFIqff3s1vVZRtSsYLpY2MtN
        r77RhtQNOiTcBeLl2s0hnXLW6NG7loaxTAFPrcKFCGCkp+tOX8np893uNLnQSkP8
        7WcKQi1NaUm5+HuO2aj6uUZ6QrLgAqv0mY3vgcsCgYEAhLo0QC71joFtlqM76XJr
        81XLAMBbpmsQVv42cR8B5HeSD8y2REsl2vVHVBrPZE6HQvcVikoDCztNp5hwcvpC
        Fg80coU/2NTuFcwtCmp2a3Y7tUjHYT/u1iwTB8+aDBTHgcXg7eCUY6O34lZiGv2Q
        WYTXVwuTOvyuR6R8qrsg7jUCgYAzbCjINx5q/Pth0CnoZbEUiUc5ofZFNl5J724i
        KlViOkq7ptyHQG95jl9phzAgRaq6uWvZzaOUqZjdRTkIHMg0aWnnmN7DgNttOf1Q
        oJByEhwGnZ0pvdFmN7q5VhBk6Bw7ayxmuooanSr4hWud3MxXx0V1N3hQo/3+X6Ub
        KkJ9DwKBgA1x7v2f1hIbziM3f/t/c/E8kU6ypAw/aR9ePM+ato2l0TuiBHMFFSS1
        cDkwo2bSi97BoLWfYIhSFF2N4F4HhNwAIBOVBQNbl8QQiIpp1YLPdsUPLV/CbS10
        VqbKWa7Ngfbj8VTexZ51jijDAYuj9zwrGQ5hSbGyqmRdydHjORvc
        -----END RSA PRIVATE KEY-----
        """
    static let ecKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFaZVO2eUnM6jUqrX
        sWGa3KBJEA3t0OKm6OuShqQsGhKhRANCAAQRHpBbYK0IYB7e2hyvyUx4nVLSMvBo
        Zmc6lpyFYDzg1OHB4O4MBJxUwe62+fwh4pv9f1zlITdw8CfJF2JCskW/
        -----END PRIVATE KEY-----
        """
    static let ecKeySEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIBWmVTtnlJzOo1Kq17FhmtygSRAN7dDipujrkoakLBoSoAoGCCqGSM49
        AwEHoUQDQgAEER6QW2CtCGAe3tocr8lMeJ1S0jLwaGZnOpachWA84NThweDuDASc
        VMHutvn8IeKb/X9c5SE3cPAnyRdiQrJFvw==
        -----END EC PRIVATE KEY-----
        """
    static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgss9+NUGgpEuA1Kd0
        r4e+f36TD1MimypliRgMdv7wHuChRANCAASSrhgURf8BMTwQVOA65SzaBtUzRuT/
        kBHV8iQ79TDcHh/bL0BoyCSjSJ2flbP1fRjhIVRM/HvAieHy6I622yJy
        -----END PRIVATE KEY-----
        """
    static let rsaKeyPKCS8Encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI2JSN5QQXQtoCAggA
        MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAUkMSuNTqB/C567r96BnrWBIIE
        0LYC97q0Q1OQhK2mvuiCwjxJjwInPa8WHOFPb3OU8oasLvmwkDLA48Pj/Ic31EL4
        V++HdwTGeIWrFcMHe9vZUjFb2UOYaSbKlQ58pcN0a8LHaKUmvQyAKkHr9LEMd8z8
        SK7nFWx0HoipVSXtwoBNipVrLs7ayP5OLWHCGHskcAvIahsMo7eC6o2jBQP2FVIo
        GUM10BOBXVdQjgnCwcjZVR7BGFTDNw55M+QNYe1LCRB6KM/JFG1NtW4TTLGVHhL6
        YJflp3AB+iggRrXumLK5ZDJevMMAUFTDCcEvouQcDPBsREWTHkqIhJFnBd1NQVm+
        64/ueGzJC8MFW7dFLdRfpFYO0yVadvrzM6nIDdHYL8nZhAMRdUmgi/xoZqEVrwza
        BCApXbqdKfRm30Iemu592RouSjrP/eZD5mIE3wizoaQalhhl430vu8faGTlBU384
        h+TbkAm0wo8Bmf+tj7FGNgtqui2dWV30OvP3O6cGzxPsKHdTcjwvJpjMct335pDt
        bcXKUwX5Lt4Z2eKGx0sk2SEQQIZ+hINmlv4P7nzDQp4IkYGRzvgwIIKz8quiORne
        KTzqSe5spSHu/KNhE/iSaB1hs4J/PSmRXJ3sFlq9XBCnUvv8ZGTy3G1gAGpKxg2Q
        F0koseDGwrGGP4ZM/jS3rgb/qQoyFpdxynDGhIZbAjl32PbOc9VI5VLhZljVcFsf
        IbOzOG9+nbp4+wyfhZzK2lJ+8HvLYE9Boqvkq1w59un+zuJUfrspUKN848k61435
        RhQIyb4ht01DJxANwkDGonzcvYheKT6c7w/i/G5NwFoZOGdPbKaR+nFKp5yMmkp6
        B1nw+FE0DfAaGpgLs2EXXFSsNhJFw0+iHfGIVlQRZrF4m2/5XtB6JqRF9uHd91jG
        lgStVhKOFlwIaPTHt62NsMs29Ik5IwS0Xmpa9h10qdAx6iMiSe3vFyvwfk3GqgQF
        RBzyOLYx/PH8jQGsQ6OmoQmDVDoQ8G9r3pqV2yWeAv/K2cKMUpg+U3JaaAIvbSr7
        NHnZFm8+F6hbJE7QHnH0OflroGS6xrTAkDyLXNzIEcfcdp23fP26CVNp5vOEM6PR
        jhlytNydPSTykwxjU0VCF2YrvrRcOzxWPk44HXPLE7yqBSYbqE+Y17ZloSSOSL52
        LpWLz5WMcG61Bh850jxhBCcc3BGrX0x1Lbk1BbOFxrc8PF9LyvRD2LqQqwEMPDAf
        6I1E6tC8WfR9+lYcg8nZ/nZaDhHxDj5Ae9YlQKUV6PgmPcX0LbFIr5OR7M/gcogC
        Ij5syA+O5bRy1jK4zUn8UFNAgssC83pA3wYE31aZuecEoE9wbSbvKSMmidQBiXtG
        91LECkQs6WuUjnPGgVUoBY73ZkA2n9PGNiwolyCZhnwNX9TM9dKyF5w3h4SQKmje
        mVOMU02V0c5mMoaMqp0D2WTT/soLeUb+YkMA0AmAeE6cM6AW7GKoKbF65cylantc
        HVIkd3mGh87cYAPvtnwFftMJYOlgi0uRkcoz50e/EGvr1UyeinNQkoLn2LM319lq
        mqA+cnpcKA09nJyuTgjTBzfQ94v4KJGDOQUy4ZPntlXA2qAv+qMuLT3cyGk5OXBZ
        dnPOckLrEvqXwzi81pk61LG0BAu5cjqFfbxQFtuuAOas
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let ecKeyTripleDES = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGxMBwGCiqGSIb3DQEMAQMwDgQIysFtW4rcT3ICAggABIGQVyTsXP1FpITA5p1p
        +A3GYGx936k7Q9tKgLsbODRTCYTaFDAit2hHPG3jmmjannttqPpCL1OamGEh4JlC
        DihMhSAQ7ycczr/VY9qIeF8NWyOEgxsbduBC2W0DSMtGFluEuzs9xdtBc/HNqHgN
        NWT7u7J9f3TZchgFyHdhgEYHMXM664V09b3dTtoQzFto6Ub2
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let rsaKeyOldEncrypted = """
        -----BEGIN RSA PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,E96A47CB0E0227BF1BD4FD7A05D7037A

        igx1Gl9kDI2F25z0FdRr6uj8U9rgDGp5/IhDbd0gwwb17QBUdpKeL1Sxfeji5jzF
        e0Ek5YoX9ZmhEC/zUoODT/6G2BLDgkACS58KI8AfDZTFyTqoHtNHoxVxeHcIM77o
        YlZT9TktzdCdW/LHpW388HYkwv8l4c+GWtiB8mtL/e8RawBL2vVtm6sqIhZm/jx9
        Nuf3XdNYm/tGoIswnELJUy65k/jyw7AWhhvD2Tfqb/+dWZhYoRPNsdGR8q/8Mzun
        4oj4MBOAh++1Jy8UxFs4sywNYb2N0jtrodx3vgBzSPnOwjM5YU07QossKda3GnXN
        BZPxHVlbjPI62y+9T23dClMwXSHYyeXToBPvvr9/SexuZHmBb2QIkVfJKho/qnh5
        x8lD5g5c6E1fR5WzWlzQy7lRHRHtJqDCJ6YsyhVkrIG0wGntMkSKYBZERqBXQggr
        nNgmWQr1F1L3GJOX1C06FngYLNQSMQrc+6+X3PlpB0zf0JiyTiSHTvyYx+RsWLkw
        qBZ1pVlelXQiq9gbqNOr6fZ1bTocx4QBvTTbAc4PRIaveCm0xyWqzEB9xy4Y7JQo
        qkNfVq7xnArZZyruqvRuTJpDBVQznq/rruZRROaerrGwLfqQQedJKpqF8WzVgpsP
        6f8ZKnomTrDvyJ2MtC04ooYu4kGylKPmbH3aXworsXSMuabSvHRdbexcWM8G23ZY
        l6AO01ytRvi/ttH8eia2DT1ePHl+lsMHViGfl5nDTwgernCX+n642X6yfxqLdNxG
        kC6v3cM8I4UJSajbhzZeIh6MguPzLx46xZQrFYeVl/HTpKJ79p9fIz1UIYUpwFxp
        b3CHwZxFFdaQQtP6KWa5k8uBLJzq3XdygZkBN/xm7J3vyCEwxlVvoTJe+rwfX+Kw
        Bh6aO+/CJksbLmdYao0OQmGwzK8u7Eah3+A9qQepWuTfOMluueIK/ulzNpLX0ATC
        QzIxzZM2nTyAH1Gg2nC5gefFBBufCvKzlvUC0ygoSIiWpGXUnWESarYGlt3lpTAr
        38Y0OprvlD/zs7P1zCzzw3fLCW5EXLv6TQSkd0W0iN2tqtLluhEwpHGWXmcMNt5s
        JzxYysoRu6LCooz1f+dTooigiJ+32bnYjsSZszSrCPznYtImFSerGxQJYPm7Q2hD
        N4rMsTolclR319Xa3l8CBLbeOrC6cLgeYh5Zs1TCyXEDB7JTSb8v/UeXJdTnk1ZI
        6v/wvrnJ5+/U0CvvsaWlL/o18YKfg8bYjjPQBu3/I26Gie0k9vbnrhsJ2jqjzfL8
        kEhlyTmBDHIMc34GJy21GsL0rfiTngJJqH86Nc05Lgt9q8vI0Rq47EhUowbtlrwO
        3yXFcZtYFlTxCeW5ugAcVy3Fe+/smjuohQjXfL/FasT+kZ4TVCZms9cNxGG3POKU
        EZdmgPOanCjVTDSi4R2JP6cWPfzOaNoHQe8hYcutv2hp7ZZhC9hEhUZk2DVZ2cgQ
        eIv8f1ou6rZFhwpZI4gBkMgKxyMvkmOfKN9NjAO2K/qgH0f5uEG/8xv31qsbUbND
        bsI4LGOFyrrGDMLGyVB1J7Pds49eZBreWs9NfVvEwDCU8ULj+T54qR2/9iuRzPzn
        -----END RSA PRIVATE KEY-----
        """
}
