// Made by Fixtures/make; do not edit.

/// Throw-away certificates, keys and archives made with OpenSSL; the passphrase is "martlet".
enum PEMFixtures {
    static let universalCertificate = """
        -----BEGIN CERTIFICATE-----
        MIID+zCCAuOgAwIBAgIUAnMNP3/DQPbft2xZVshpFjSJ1GwwDQYJKoZIhvcNAQEL
        BQAwVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQD
        DCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDAgFw0yNjEx
        MjEwNzU1MDVaGA8yMTI2MTAyODA3NTUwNVowVDEhMB8GCgmSJomT8ixkAQEMEWNv
        bS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBj
        b20uZXhhbXBsZS5NeUFwcDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEB
        ANhDdDykloBFmQ+aC2alHwbqQFCaCmJb+zcnyqpQSYTe2eLh0sw33UcAmO10QXn0
        XWCaOpK7bWxW6fOwbFkmvbEd2KbaySh48oTlMSleI98c6RMKEzEcHQ6QL3ypqSOV
        F4wg8PwfOSdm+JfJMSu+S5Or4aFwzqeMGQdxtIxpJDPsDmwHDBardZp4bHdys/sz
        NR6jvyyUu5uMaCYWgwBnk5sqxLLaXA5oBAbBfatoUcdMKYYo0lWYPoC7H3s2kbBE
        44xsmGDDeuYDfUdOadTuCdMDotLAYKoe998SSy5DP7qUkhBA8aHSKPztUw4yzytj
        rINjWC1gzjI/VewjrFz8V0MCAwEAAaOBwjCBvzAQBgoqhkiG92NkBgMBBAIFADAQ
        BgoqhkiG92NkBgMCBAIFADB6BgoqhkiG92NkBgMGBGwwagwRY29tLmV4YW1wbGUu
        TXlBcHAwBQwDYXBwDBZjb20uZXhhbXBsZS5NeUFwcC52b2lwMAYMBHZvaXAMHmNv
        bS5leGFtcGxlLk15QXBwLmNvbXBsaWNhdGlvbjAODAxjb21wbGljYXRpb24wHQYD
        VR0OBBYEFGt0CGucoXXc9HpnxDgOkLh/qfttMA0GCSqGSIb3DQEBCwUAA4IBAQC2
        TNW3nm9Z1LIzCwuFVihkpO5G1CO+FZcsPEgwSOMt212OSe6PK8JQzyS8wElumJJN
        sVFqTiXXcEd0kGZh3HaYPALlO/o2lDc6Bcc4s2ipcEAPblpKXnRPcqGRWHDj7qbi
        gpx/e503UWBPhyt0LykgcGX/Ox2iGnpToKjEAKGHrn1pkbzfx6nd/6hQLKFAJ1Hi
        PwwOUy5BFF8mfdhTAeANVM4EPZM0krlszGyjUNzSxm46GT9lYKog0rm0qi1kA6ng
        itdrPffFDRAvog8qtaCSTJpxnw3gc8wMUZyKCm6ZEHoC+vRKS3s/Hbr66hKW4VQ3
        HLBEDbW9/W/bY2PmTrgF
        -----END CERTIFICATE-----
        """
    static let sandboxCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIB4DCCAYWgAwIBAgIUH8U0YnYZDd5+oiq2WSYQ03sxCkwwCgYIKoZIzj0EAwIw
        VDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZB
        cHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDAgFw0yNjExMjEw
        NzU1MDVaGA8yMTI2MTAyODA3NTUwNVowVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5l
        eGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20u
        ZXhhbXBsZS5NeUFwcDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIAqQ5n+otkW
        vAPhMO6FJ7atRMURNbtUhVPmQ5pqOAzOemVp1OoDFwAXHYrQv9fzGgKO/QIWCBza
        WGAqzTI7342jMzAxMBAGCiqGSIb3Y2QGAwEEAgUAMB0GA1UdDgQWBBQORFLaPuSx
        Y6HWjI2xD65vPfvk2TAKBggqhkjOPQQDAgNJADBGAiEAmQf0+EFKjFiLrjsmpb+G
        FKYrBtv+Kb3AzouNbOPqQYkCIQDa3FJi/EI5dFX+GUE5yaq3BT/D6B9+If8wtzHz
        sGOWtg==
        -----END CERTIFICATE-----
        """
    static let productionCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIB3zCCAYWgAwIBAgIULa23CRnsheAY2rWMfsEpsKSHHM8wCgYIKoZIzj0EAwIw
        VDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZB
        cHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDAgFw0yNjExMjEw
        NzU1MDVaGA8yMTI2MTAyODA3NTUwNVowVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5l
        eGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20u
        ZXhhbXBsZS5NeUFwcDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIAqQ5n+otkW
        vAPhMO6FJ7atRMURNbtUhVPmQ5pqOAzOemVp1OoDFwAXHYrQv9fzGgKO/QIWCBza
        WGAqzTI7342jMzAxMBAGCiqGSIb3Y2QGAwIEAgUAMB0GA1UdDgQWBBQORFLaPuSx
        Y6HWjI2xD65vPfvk2TAKBggqhkjOPQQDAgNIADBFAiB27qq5EdV9VNQ4nzsqTIvM
        I1TLJ63/Al8D/8+eYHnI5wIhANuxVBcNtsAEGiymP0I9Oglt8wTpYrhoSf/Av6Vy
        zt9a
        -----END CERTIFICATE-----
        """
    static let plainCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBUDCB96ADAgECAhRxeKaa1tWMg9W52Qjf6Ns665nRIDAKBggqhkjOPQQDAjAP
        MQ0wCwYDVQQDDAR0ZXN0MCAXDTI2MTEyMTA3NTUwNVoYDzIxMjYxMDI4MDc1NTA1
        WjAPMQ0wCwYDVQQDDAR0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEgCpD
        mf6i2Ra8A+Ew7oUntq1ExRE1u1SFU+ZDmmo4DM56ZWnU6gMXABcditC/1/MaAo79
        AhYIHNpYYCrNMjvfjaMvMC0wDAYDVR0TAQH/BAIwADAdBgNVHQ4EFgQUDkRS2j7k
        sWOh1oyNsQ+ubz375NkwCgYIKoZIzj0EAwIDSAAwRQIgISvcfbnrEddpo0BFSSy+
        idAJeUrjQanVQuNqWFR2ULoCIQCsGvKe1xi4rq5nx+LAwt8Fabgg4CAw1ZQqC8MB
        uZul7Q==
        -----END CERTIFICATE-----
        """
    static let authorityCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBaTCCAQ6gAwIBAgIUGsv+d+dKmYdZFqEgZ2tAhxDKZSgwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOVGVzdCBBdXRob3JpdHkwIBcNMjYxMTIxMDc1NTA1WhgPMjEy
        NjEwMjgwNzU1MDVaMBkxFzAVBgNVBAMMDlRlc3QgQXV0aG9yaXR5MFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAESnOqSBFEN09yQM9YwXP3XSPyaxabLwAe7+2dM9N4
        DrElM4GOeOE7ec4rQ9ttKvcN355BTo4iH2UEb+YTOgW/iaMyMDAwDwYDVR0TAQH/
        BAUwAwEB/zAdBgNVHQ4EFgQUg9fJPvUfS4UzM/NJX+U2+4xgrKcwCgYIKoZIzj0E
        AwIDSQAwRgIhAIyNmrMT8pibKQsnd2pEphsCkdOa5UV1ydjT9+jyvGSMAiEA9ABB
        bB/ob369elyA8QYvL67R72NMblv0rr8uQeF9DJI=
        -----END CERTIFICATE-----
        """
    static let leafCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBsTCCAVigAwIBAgIBBzAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5UZXN0IEF1
        dGhvcml0eTAgFw0yNjExMjEwNzU1MDVaGA8yMTI2MTAyODA3NTUwNVowVDEhMB8G
        CgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLk15QXBwMS8wLQYDVQQDDCZBcHBsZSBQ
        dXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5NeUFwcDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABIAqQ5n+otkWvAPhMO6FJ7atRMURNbtUhVPmQ5pqOAzOemVp1OoD
        FwAXHYrQv9fzGgKO/QIWCBzaWGAqzTI7342jVDBSMBAGCiqGSIb3Y2QGAwIEAgUA
        MB0GA1UdDgQWBBQORFLaPuSxY6HWjI2xD65vPfvk2TAfBgNVHSMEGDAWgBSD18k+
        9R9LhTMz80lf5Tb7jGCspzAKBggqhkjOPQQDAgNHADBEAiA3WGy11GV1MNq2FXZa
        xptuygW3KjyY7HcoDKS5MjnvCgIgZ6XwA1Qpo7W1BvL+2jxjrtq4RV/h7l50QAUx
        cW1YYPM=
        -----END CERTIFICATE-----
        """
    static let rsaKey = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEogIBAAKCAQEA2EN0PKSWgEWZD5oLZqUfBupAUJoKYlv7NyfKqlBJhN7Z4uHS
        zDfdRwCY7XRBefRdYJo6krttbFbp87BsWSa9sR3YptrJKHjyhOUxKV4j3xzpEwoT
        MRwdDpAvfKmpI5UXjCDw/B85J2b4l8kxK75Lk6vhoXDOp4wZB3G0jGkkM+wObAcM
        Fqt1mnhsd3Kz+zM1HqO/LJS7m4xoJhaDAGeTmyrEstpcDmgEBsF9q2hRx0wphijS
        VZg+gLsfezaRsETjjGyYYMN65gN9R05p1O4J0wOi0sBgqh733xJLLkM/upSSEEDx
        odIo/O1TDjLPK2Osg2NYLWDOMj9V7COsXPxXQwIDAQABAoIBAAvBDs5E+9EY90q7
        yqbXjqonjTtURAA4k5zZ0tAS8QwBuMH2GCj1WFeFlspBKVXhjDm16D0VZssepjSS
        gDEQQ/sebioTdh93A2dptZRUA4sa3SglwglHR+UEvS//YKwIbHE3USHC6K5VkGlf
        jAaenyj1jJvjr7e3i5y192QySr9vmXSxY50Ul16GaQBeBgIR6kGkWyYn69S9QJdX
        n+85IO0i2dYwUi7vlmzQav/plNXmE2Et15snW8AXF2st23Q8YNwYqzTrv5kCjPVI
        ebfaxTJNIPa919Ih1rWwGxUqJHuHzt/vJAM/KFQiLrAdxFme7CJHnRYQUpUrpaAw
        tuTP5hECgYEA96XQq65xUJXMqA4cjEXJTcepoxe+OgDec8mgq7p+2AiMIJM8w3OS
        Jw3czFm2NFxSm8Px7bPO9hByPjMsvaCafNdrNzuqqfCx3PNkTceU8veE4f0lOwjX
        yA+r8vhYoJnE4pZtKPzF2yCtjPjFU0uOu9FVIyzTNSj4u2MUPxXdhy0CgYEA346r
        Ei3aq1WctWgc63mfo4bMV/vk4ZMgkCHMkVrRlHThspEDxKR7fzmoxETcdtx2qLEF
        iLX79UDKR+RV0i+WfIV2JWD3uAluhSxIeXWGJd9/F/Moi9SeFrCUt4/z/XHcBJaS
        9gnee1U9s86s1ufKLWkynmLp1QMUGAgZ/FUmXi8CgYAQbRwxNwnnGXiQsRbtqvdW
        RGcZHUsN197peTdCDMW7GJ4KzxlZsYHBO2co2s5+HJ2SHWYfqSySH7ckLwrJrSxy
        GWvQJxID4aY6jJ5blmBn2UkkIEFm8Ag4CeoS3KwsQubPTMEC1fldtoYscpfMFZfr
        F1B5W9DKluQgscq3AIFIJQKBgEqegUVhHtL/kX4PkU+b2ggoLz7S6lPM2xqg3XpK
        +Rd3Z/pFYx+Y00vlAAr6/SeDcOvfonw+WipDhQE4Gtk8XxuTJJtXYXgBVe2HmW1J
        KAyuK+rfk9IQlu/14r3eg8892PWDGOyc4LEEA8NnodNdrOM5cNbjJy+dhnB7C8lo
        1pSrAoGAImPBre4W9FzuuUlGkEm3hAuW9u4QgIIfqX2ZSQFKzZNmALvlL7ta8oh0
        ycQS57MEFADKEEvuZi0Zs7f908aM455eQX25iZg93MnlaaiIE7ew/QQ7CS9kc+9j
        UF0Zg7TXYboukBhK4oOe9KfIph8/+4PNvzNaNP1QwXOgBZsnnCs=
        -----END RSA PRIVATE KEY-----
        """
    static let ecKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4/m9tFJPUdkncrza
        uvKZQH16GowGy2lo40/NRgYwMWGhRANCAASAKkOZ/qLZFrwD4TDuhSe2rUTFETW7
        VIVT5kOaajgMznpladTqAxcAFx2K0L/X8xoCjv0CFggc2lhgKs0yO9+N
        -----END PRIVATE KEY-----
        """
    static let ecKeySEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIOP5vbRST1HZJ3K82rrymUB9ehqMBstpaONPzUYGMDFhoAoGCCqGSM49
        AwEHoUQDQgAEgCpDmf6i2Ra8A+Ew7oUntq1ExRE1u1SFU+ZDmmo4DM56ZWnU6gMX
        ABcditC/1/MaAo79AhYIHNpYYCrNMjvfjQ==
        -----END EC PRIVATE KEY-----
        """
    static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwaqwtncDDQMDIT0u
        GdU+LSEAoBXD8M+JSbybzLfiODWhRANCAARKc6pIEUQ3T3JAz1jBc/ddI/JrFpsv
        AB7v7Z0z03gOsSUzgY544Tt5zitD220q9w3fnkFOjiIfZQRv5hM6Bb+J
        -----END PRIVATE KEY-----
        """
    static let rsaKeyPKCS8Encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIlXiLZIiRYdYCAggA
        MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBDXj4BAgCpy5jUAMFXoLNIDBIIE
        0EUdBwXMPwK96uu7tQopKjK6sE/cG9AOlTGvYRd1tSevFh9zttxdF2SmSvDdqOky
        MHDd42511ZfqJATWy47wWqT9St/cEmFgcH92/2r4XzVPa0prPxz37oT1aMEXm+Fc
        rMicD8dv6l/Fc6YfjaGCMFja3ETZLvUtNizVKDc3F+R4iH2KJb3N5oI0ZxIkRfnq
        0GjFxtxbqUZZfr0OiuJPjQXOYkWISbswQlPbHK/A+VEPAtjf+UK2YJ4Z4cpulRU/
        MIE07GuQ0uZ2hrKaH2iSH/7IWdyBBXOinymGy9IS1yyd55yu1tz/q/c64tmL3ph2
        x1usi6JQiYVzgtwAO/5lQ9/LwufCKERzDmGLZNDO0JhTJ0ulwgouCt6UURaD0sKs
        Fw9J28fXoOkCgIMAQ/j/44lS5jpHuRDnhw9mqBM4ha6O8KYQ9MpwaIali0/V4dDw
        s6whj54ZptHOzcgfwZuhOg8yygPOixjKKMNK5ayg0TL1SBkt/D/1O9MvC39bSiJF
        8Y8OeXyC7UJW+jelu5Off3IAPAAvlBZ/GILa2Oz1vKpxWvkU0XNZnjhjOFN4mzvt
        63u5qQaXkaBfXQulP1ufiw5Tkpi00Amh9zsfoEXnnOIpIgjqKOlqxoWLmyBFcoMr
        9IMugI7TEnnz+/STfxLS/rABM4hptG6Zvmm7K+PWpUosoL6K9jyADC4kuCq3NZuY
        5drKiP37XyGmmuAU9TnJLoqSiA9Y4Ou2Q0NPKsB1M3LpFhemqKIz3Fng7GPdn83b
        PcyUtM/n5HD4HYo+9jp4isR5h/kEc2OskArkLUrRil4z+f3QhTt+wtnF9DLke8t2
        mNeeKdpfVMw599pzfxsY8GgTsXkFVI45bUuom047QDb/4Rskwc9RbYSyPlUtmj+M
        N25dPc3EYgmlByBMbrEtpnT7wsTFBdnrDLkup8lUkZ1AaEFUvYDPsrVEgENkYlh5
        kN3stTU3C3Qsbqi7WV4Ld5zzRGSKwHOTR/uYAzb6wxJQDpntPRqboM9zoRpKxqPc
        fcljf6mpHJxn3Coe4PkP09wpEVGQrRqlaPwz9p3ndg3eLcY0X7ClXUOcJRGsXz9L
        bZxRLUnf0Yf8Bhg6yub1bQ9mn36M2E9DHU12EgWlAnU7CauEt52Y37s4B58kpVEC
        APfwJybKQZ8yKiQuaD5iEurT/TYr2hH868ZiFXqjcZ/9AUCEBmqdgDL1ToaTrfHy
        Lze381AJlMFAujvRfMlPf+uII9hRs8oEWOpTowtrA5BSa9/Rnyi2WYYALJvnEK2a
        veTvXUmZYNiBdKhzqYfTxOT2kA11yUCbNuVxiQgbqr+j0eI77/cYwg41vdcQgf2e
        TTNpB3lsdQmqfyiflE4AAnDCS+m/QXdHIbuaX0X57zG7iJwIIkm1F7fDQkHZD/rC
        jb1hWscOgW9L9Woz2+lxoOgnBF5oQeT2p10nxOdFbMcDpn73wTDpZIP4RK9dm+iS
        FZUamFVbWRVuVJGz3emRMOCE+fsa2M0pdIQy4T5D/NlNRM9u20cXrzPnq4WOvu8R
        awoEMpdHMC1UrQmkgled9P2VNiRJDCLkJWsbpenpA0kZjv+ZfRPqv/pDOjMx34DU
        YpC+ALS7hQVmaJ2Iesv4gEYEgLBIqEH8C/X/rpQHh52t
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let ecKeyTripleDES = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGxMBwGCiqGSIb3DQEMAQMwDgQIVsotkrJvpCUCAggABIGQNHZYezWxRxTpb0zV
        2soC8nWyCB6ITsPIxJWZBVWcvEyQWv1M62NIO3lbOafvKX1DNsJkfoBAruC0jh1C
        nO11FywVVq9tKOF3GJoMEFtsf89i7UYEDPz9Um50Y6GHqSX4Q7QaiK3BesbINC3Q
        EFv7aVRJvptsPhCM77jw0uV7Wj/CpSZuR5Eu7jAY0V764G4i
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let rsaKeyOldEncrypted = """
        -----BEGIN RSA PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,0F8F168A00B634A82D5C62F688B14191

        n+a1Ly8hPbB9qpN1ZRoUlUZdS3hPpFVZMR6o5IMd0A60On93kJprN73t645mMxWV
        PL9MneoZ0bXzM+H6e2LIF6C/S+ZiEUdFszSOjG8nhetSnJAisdVTe7+ddTupZvfB
        CQCR1nOYoqYv/Bzwr/dVlpA8zFKO2Mf2n2hnjmZQKKClbeBw8n0caXGnirf2pO+6
        qk8lrI/q9+rRvZab6Z7prVOMktmUO45L8ee9WSQRkUVXJG+osgPnnt6R9PVHps+a
        bMSE0h72IibBKo/Qzw64Q4DqzVKXXYsfhqGFZODcm6UGrSFJ9of8vOCizu7MdaiX
        KxP0EVFTzJ1AAypj4mpZ3a0yS7BDHnb39MZinNWYyYmQjPo1/t+1Askzc14ueIhf
        Y2WOoymeLk47QT8v0XcJpe0Xz5JnZhsxXO8SDZjY1cPUi9WsSxxT0ISWFmxVDo74
        Acyc3iayjRfeBWy0YmwWfyrVo3jenIFmfM2DMY1w/Xk4Jr/d7jTh5gT8JPievRD+
        q16UvD3roxpTYVWEuVYi/mLIlrEGeNIFhR8yj5l2OwY4zqamJDskkWitVjZX9181
        Vir3Az48lY8nlKJlaUgFAwebzqA/P1S86w5GcHN0vH0jHhaF/QNxB0B8UiOugmWr
        fs57uZ4wRJdDJSiRnweFoLDxd0rcWSlK8IY9Y4cspyuxt8npBLILZINuqG5oxMLj
        i49qHErvpv8I/jnoNPGKL5CwIfwaxetdMcZaWYABXyQ+9WXWlJ2RySa5x/SVl7uF
        /XqLizAuAfuIcQoGpaaPAElCrw6m3/M3DghWfRGP76WyQAsg/pjSeSo/QnK/5G1R
        4EaeFKbKd2hzJ2seXw35ZwQV9u4K4RxAIQ5Hh669kExNuPLQYXiBOy6OwuWqyR/4
        ZyytRIDEgv3Sb6Mzfp6d5nkoTgmNwmoHNh49u402AMMYtEWZEcPdf1EGdh9YGRev
        LrYo4A9MR7lOmXVeiRdzWcBpvumPvVKpF8tXB3SrMDbaRDQbcFOBuytoBGRLX+hP
        mM7zW4psm855VT//XFoVm81hHEb6awgPxN+TPEJ87DGym8gSmsCcPV5JlNChXl9w
        JKvOkOvGgfM41ocWnKXvwQgWxtmHDaUSCjXeZsNbdBeISFRSRUGr0rNriLa/NfNV
        4jQJKAkiyCNUidWAUq6ut7lbjdHG7tAuazCglyHE6NMBmwZfRHBts3ob0DTxq3R1
        KMkqGlUDNSjNyB37wQh0fkzZ1PqhQnk+6Pdl0pe2vcAN9ZCoW7a2GcLWaVqOCZxZ
        o3yef1+QY+jNjTopjZXGjU5j6IjoH82Ecwg80i7IrfGS4TGxOy2uAQmnPEifaIDr
        9wAQ0l2iEjIh67cHy1HS9iHysr32qP6VK28H3iXyqRy9szSAf9+JwXVYSzAkdmXv
        Jx9bYyhTjAMuPENEReiA4+W6XNnewFB6WkNOFv4ve4KzPisFdkoOwAyTHXfvo5sE
        dsHC+7+vvCO3gRKlJh59syEjUZedckM07AXLPtdCvGtQ4B2h/fTdyiz4jKq64ezm
        SoXpDATLzJjT6zq/kUacOdjY87bNQweJsnLIVHSi+9b9MiNCwabr/63IuwVyLJ3O
        -----END RSA PRIVATE KEY-----
        """
}
